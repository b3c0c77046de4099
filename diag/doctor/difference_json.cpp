// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "cli/interface/json_document.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/doctor_text.hpp"

namespace gdrkit::diag::doctor {
namespace {

/// Their texts contain counts, which always differ. Only their states are compared.
constexpr const char* counting[] = {"pcie.aer", "nic.counters", "gpu.ecc", "gpu.xid", "iommu.faults", "bar1.free"};

struct Sides {
  std::vector<const Finding*> left;
  std::vector<const Finding*> right;
};

/// Findings by check and subject, in the order of the checks.
using Table = std::vector<std::pair<const Check*, std::map<std::string, Sides>>>;

void add(const Examination& examination, std::vector<const Finding*> Sides::*side, Table* table) {
  for (const CheckResult& result : examination.results) {
    auto row = std::ranges::find_if(*table, [&](const auto& other) { return other.first == result.check; });
    if (row == table->end()) row = table->insert(table->end(), {result.check, {}});
    for (const Finding& finding : result.findings) (row->second[finding.subject].*side).push_back(&finding);
  }
}

bool is_same(const Check& check, const Sides& sides) {
  const bool is_count = std::ranges::any_of(counting, [&](const std::string& id) { return id == check.id; });
  return std::ranges::equal(sides.left, sides.right, [&](const Finding* one, const Finding* other) {
    return one->state == other->state && (is_count || one->text == other->text);
  });
}

/// At level quick a live machine skips the checks of level probe. That is not a difference.
bool is_run(const Examination& examination, const Check& check) {
  const auto& not_run = examination.not_run;
  return std::ranges::find(not_run, &check) == not_run.end();
}

cli::Json side_json(const std::vector<const Finding*>& findings) {
  return cli::json_list(findings, [](const Finding* finding) -> cli::Json {
    return {{"state", name_of(finding->state)}, {"text", finding->text}};
  });
}

void print_side(const char* name, const std::vector<const Finding*>& findings) {
  if (findings.empty()) std::printf("  %s  no finding\n", name);
  for (const Finding* finding : findings) {
    const std::string start = cli::format("  %s  %-7s ", name, name_of(finding->state));
    std::fputs(cli::wrapped(start, std::string(start.size(), ' '), finding->text).c_str(), stdout);
  }
}

}  // namespace

cli::ExitCode print_difference(const Examination& left, const Examination& right, const cli::DocumentOption& json) {
  const bool is_text = !json.is_on_stdout();
  Table table;
  add(left, &Sides::left, &table);
  add(right, &Sides::right, &table);
  cli::Json document = {{"schema", "gdrkit.doctor-diff/1"}, {"a", left.root}, {"b", right.root}};
  document["differences"] = cli::Json::array();
  if (is_text) std::printf("A is %s, B is %s\n", left.root.c_str(), right.root.c_str());
  document["not_compared"] = cli::Json::array();
  for (const auto& [check, subjects] : table) {
    if (!is_run(left, *check) || !is_run(right, *check)) {
      document["not_compared"].push_back(check->id);
      continue;
    }
    for (const auto& [subject, sides] : subjects) {
      if (is_same(*check, sides)) continue;
      document["differences"].push_back(
          {{"id", check->id}, {"subject", subject}, {"a", side_json(sides.left)}, {"b", side_json(sides.right)}});
      if (!is_text) continue;
      std::printf("%s%s%s\n", check->id, subject.empty() ? "" : " ", subject.c_str());
      print_side("A", sides.left);
      print_side("B", sides.right);
    }
  }
  const std::size_t count = document["differences"].size();
  cli::write_json(json, document);
  if (is_text) {
    std::printf("%s\n", cli::counted(count, "difference").c_str());
    if (!document["not_compared"].empty())
      std::printf("%s were not compared: add --level probe\n",
                  cli::counted(document["not_compared"].size(), "check").c_str());
  }
  return count == 0 ? cli::ExitCode::ok : cli::ExitCode::failed;
}

}  // namespace gdrkit::diag::doctor
