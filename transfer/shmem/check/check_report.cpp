// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_report.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/json_document.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::transfer::shmem {

bool CheckReport::is_ok() const {
  return std::ranges::all_of(checks, [](const CheckSummary& one) { return one.failures == 0; });
}

CheckSummary summarise(const Check& check, const std::vector<CheckResult>& results) {
  CheckSummary summary;
  summary.check = &check;
  for (std::size_t pe = 0; pe < results.size(); ++pe) {
    const CheckResult& result = results[pe];
    if (result.seal != result_seal) {
      summary.texts.push_back(cli::format("PE %zu: its result did not arrive at PE 0", pe));
      ++summary.failures;
      continue;
    }
    summary.operations += result.operations;
    summary.failures += result.failures;
    summary.duration_us = std::max(summary.duration_us, result.duration_us);
    for (std::size_t kept = 0; kept < std::min<std::uint64_t>(result.failures, kept_failures); ++kept) {
      const char* const text = result.texts[kept];
      summary.texts.emplace_back(text, std::find(text, text + sizeof result.texts[0], '\0'));
    }
  }
  return summary;
}

void print_check_head(const CheckReport& report) {
  std::printf("%d PEs on %s\n%-12s %12s %10s  %s\n", report.n_pes, cli::printable(report.machine.gpu_name).c_str(),
              "check", "operations", "seconds", "result");
}

void print_check(const CheckSummary& summary) {
  std::printf("%-12s %12" PRIu64 " %10.2f  ", summary.check->name, summary.operations,
              static_cast<double>(summary.duration_us) / 1e6);
  if (summary.failures == 0) {
    std::printf("ok\n");
  } else {
    std::printf("FAILED (%s)\n", cli::counted(summary.failures, "failure").c_str());
    for (const std::string& text : summary.texts) std::printf("  %s\n", cli::printable(text).c_str());
  }
}

void print_check_end(const CheckReport& report) {
  const auto failed = std::ranges::count_if(report.checks, [](const CheckSummary& one) { return one.failures; });
  if (failed == 0) {
    std::printf("%s passed\n", cli::counted(report.checks.size(), "check").c_str());
  } else {
    std::printf("%zu of %s FAILED\n", static_cast<std::size_t>(failed),
                cli::counted(report.checks.size(), "check").c_str());
  }
}

void write_check_json(const cli::DocumentOption& option, const CheckReport& report) {
  cli::Json document = cli::json_head("shmem check", report.machine, "", report.is_emulated);
  document["n_pes"] = report.n_pes;
  document["checks"] = cli::Json::array();
  for (const CheckSummary& one : report.checks) {
    document["checks"].push_back({{"name", one.check->name},
                                  {"summary", one.check->summary},
                                  {"result", one.failures == 0 ? "passed" : "failed"},
                                  {"operations", one.operations},
                                  {"failures", one.failures},
                                  {"seconds", static_cast<double>(one.duration_us) / 1e6},
                                  {"texts", one.texts}});
  }
  document["ok"] = report.is_ok();
  cli::write_json(option, document);
}

}  // namespace gdrkit::transfer::shmem
