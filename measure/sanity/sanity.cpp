// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// sanity: runs the tests, each in a separate process. This process itself initializes nothing of CUDA, so that every
// test starts without it.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "cli/interface/banner.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/json_document.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/sanity/helper_process.hpp"
#include "measure/sanity/isolated_run.hpp"
#include "measure/sanity/sanity_test.hpp"
#include "measure/sanity/verdict.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/facts/machine.hpp"

namespace gdrkit::measure::sanity {
namespace {

struct SanityOptions {
  cli::CommonOptions common;
  bool is_verbose = false;
  bool without_summary = false;
  bool is_list = false;
  bool with_extended = false;
  std::vector<std::string> names;
  int limit_seconds = 60;
};

struct Result {
  SanityTest test;
  Outcome outcome;
};

struct SanityReport {
  bool is_emulated = false;
  platform::Machine machine;
  std::string backend;
  std::vector<Result> results;

  [[nodiscard]] std::size_t count(Verdict verdict) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(results, [&](const Result& result) { return result.outcome.verdict == verdict; }));
  }
};

cli::CommandLine command_line(SanityOptions* options) {
  cli::CommandLine line;
  line.name = "sanity";
  line.summary = "Checks that mappings of device memory behave as documented, one process per test.";
  line.example = "gdrkit sanity --json";
  line.gdrcopy_invalid_option = "Invalid option";
  line.options = {
      {'v', "verbose", "", &options->is_verbose, "print each test when it starts, and each failure's reason"},
      {'s', "no-summary", "", &options->without_summary, "print no summary"},
      {'l', "list", "", &options->is_list, "list the tests and exit"},
      {'t', "test", "NAME", &options->names, "run this test; can be repeated"},
      {'e', "extended", "", &options->with_extended, "also run the extended tests"},
      {'\0', "time-limit", "SECONDS", &options->limit_seconds, "time limit of each test", false},
  };
  cli::add_common_options(&line, &options->common);
  return line;
}

void print_list(const std::vector<SanityTest>& tests) {
  std::printf("List of all available tests:\n");
  for (const SanityTest& test : tests) {
    if (test.list == List::original || test.list == List::own) std::printf("    %s\n", test.name.c_str());
  }
  std::printf("\nList of all available extended tests:\n");
  for (const SanityTest& test : tests) {
    if (test.list == List::extended) std::printf("    %s\n", test.name.c_str());
  }
}

/// Facts that a helper process determines, because this process must not initialize CUDA.
struct Findings {
  cli::DeviceChoice choice;
  platform::Machine machine;
  std::string backend;
};

/// Plain text over a pipe of a helper: NUL-terminated fields.
Findings find_out(const SanityOptions& options) {
  constexpr std::size_t capacity = 8192;
  struct FoundFacts {
    int is_emulated;
    int code;  ///< of a Failure; 0 if there was none
    char text[capacity];
  };
  HelperProcess helper([&](Channel* channel) {
    ::alarm(static_cast<unsigned>(options.limit_seconds));  // a driver that hangs must not hang the tool
    FoundFacts found_facts{};
    std::string text;
    try {
      const cli::DeviceChoice choice = cli::choose_device(cli::find_gpus());
      const auto device = cli::open_device(choice, options.common.device);
      const platform::Machine machine = platform::describe_machine(device.get());
      open_drop_in().reset();
      found_facts.is_emulated = choice.is_emulated ? 1 : 0;
      for (const std::string& field : {choice.note, machine.gpu_name, machine.gpu_pci_address, machine.driver_version,
                                       cli::backend_names().backend}) {
        text += field + '\0';
      }
    } catch (const cli::Failure& failure) {
      found_facts.code = static_cast<int>(failure.code());
      text = failure.what();
    }
    text.resize(std::min(text.size(), capacity - 1));
    std::memcpy(found_facts.text, text.data(), text.size());
    channel->send(found_facts);
  });
  const auto found_facts = helper.channel().receive<FoundFacts>();
  helper.wait();
  if (found_facts.code != 0) throw cli::Failure(static_cast<cli::ExitCode>(found_facts.code), found_facts.text);
  Findings findings;
  findings.choice.is_emulated = found_facts.is_emulated != 0;
  findings.machine = platform::describe_machine(nullptr);
  const char* field = found_facts.text;
  for (std::string* target : {&findings.choice.note, &findings.machine.gpu_name, &findings.machine.gpu_pci_address,
                              &findings.machine.driver_version, &findings.backend}) {
    *target = field;
    field += target->size() + 1;
  }
  return findings;
}

/// The named tests in their order, or all default tests. Throws Failure for an unknown name.
std::vector<SanityTest> select(const std::vector<SanityTest>& all, const SanityOptions& options) {
  for (const std::string& name : options.names) {
    if (std::ranges::none_of(all, [&](const SanityTest& test) { return test.name == name; })) {
      cli::reject("Error: cannot find the test '" + name + "'; --list lists them\n" +
                  cli::format("Error: Encountered an error or a test failure with status=%d", EINVAL));
    }
  }
  std::vector<SanityTest> selected;
  for (const SanityTest& test : all) {
    const bool is_named = std::ranges::find(options.names, test.name) != options.names.end();
    const bool is_default = options.names.empty() && (test.list == List::original || test.list == List::own);
    const bool is_extended = test.list == List::extended && options.with_extended;
    if (is_named || is_default || is_extended) selected.push_back(test);
  }
  return selected;
}

void print_after(cli::Front front, const SanityOptions& options, const Result& result) {
  const char* verdict = verdict_name(result.outcome.verdict);
  if (options.is_verbose) {
    std::fprintf(stderr, "&&&& %s %s\n", verdict, result.test.name.c_str());
    if (!result.outcome.reason.empty()) std::fprintf(stderr, "     %s\n", result.outcome.reason.c_str());
  }
  if (front == cli::Front::gdrcopy || options.common.json.is_on_stdout()) return;
  if (options.common.quiet && result.outcome.verdict == Verdict::passed) return;
  const std::string line =
      cli::format("%s %-64s %8.3f s%s%s", verdict, result.test.name.c_str(), result.outcome.seconds,
                  result.outcome.reason.empty() ? "" : "  ", result.outcome.reason.c_str());
  std::printf("%s\n", cli::fitted(line, 7).c_str());
  std::fflush(stdout);
}

void print_names(const SanityReport& report, Verdict verdict, const char* heading) {
  if (report.count(verdict) == 0) return;
  std::printf("\n%s\n", heading);
  for (const Result& result : report.results) {
    if (result.outcome.verdict == verdict) std::printf("    %s\n", result.test.name.c_str());
  }
}

void print_summary(const SanityReport& report) {
  std::printf("Total: %zu, Passed: %zu, Failed: %zu, Waived: %zu\n", report.results.size(),
              report.count(Verdict::passed), report.count(Verdict::failed), report.count(Verdict::waived));
  print_names(report, Verdict::failed, "List of failed tests:");
  print_names(report, Verdict::waived, "List of waived tests:");
  std::fflush(stdout);
}

const char* list_name(List list) {
  switch (list) {
    case List::original: return "original";
    case List::own: return "own";
    case List::extended: return "extended";
  }
  return "";
}

const char* result_name(Verdict verdict) {
  return verdict == Verdict::passed ? "passed" : verdict == Verdict::waived ? "waived" : "failed";
}

/// Writes to the destination of --json.
void write_sanity_json(const SanityOptions& options, const SanityReport& report) {
  cli::Json document = cli::json_head("sanity", report.machine, report.backend, report.is_emulated);
  document["total"] = report.results.size();
  document["passed"] = report.count(Verdict::passed);
  document["failed"] = report.count(Verdict::failed);
  document["waived"] = report.count(Verdict::waived);
  document["tests"] = cli::Json::array();
  for (const Result& result : report.results) {
    document["tests"].push_back({{"name", result.test.name},
                                 {"list", list_name(result.test.list)},
                                 {"result", result_name(result.outcome.verdict)},
                                 {"reason", result.outcome.reason},
                                 {"seconds", result.outcome.seconds}});
  }
  document["ok"] = report.count(Verdict::failed) == 0;
  cli::write_json(options.common.json, document);
}

cli::ExitCode run(cli::Front front, const SanityOptions& options) {
  const std::vector<SanityTest> all = all_tests();
  if (options.is_list) {
    print_list(all);
    return cli::ExitCode::ok;
  }
  if (options.limit_seconds < 1) cli::reject("Error: --time-limit must be at least 1 second");
  cli::apply(options.common);
  const std::vector<SanityTest> selected = select(all, options);
  const Findings findings = find_out(options);
  cli::print_note(findings.choice, options.common.json.is_on_stdout());
  SanityReport report{findings.choice.is_emulated, findings.machine, findings.backend, {}};
  if (front == cli::Front::gdrkit && !options.common.json.is_on_stdout() && !options.common.quiet) {
    const std::string head =
        cli::format("%s %s, %s, backend %s", report.machine.gpu_name.c_str(), report.machine.gpu_pci_address.c_str(),
                    report.machine.driver_version.c_str(), report.backend.c_str());
    std::printf("%s\n", cli::fitted(head, 2).c_str());
  }
  for (const SanityTest& test : selected) {
    if (options.is_verbose) std::fprintf(stderr, "&&&& RUNNING %s\n", test.name.c_str());
    const Environment environment{report.is_emulated, options.common.device, test.kind, test.argument};
    const auto body = [&] { test.function(environment); };
    report.results.push_back({test, run_isolated(body, options.limit_seconds)});
    print_after(front, options, report.results.back());
  }
  if (options.common.json.is_given) write_sanity_json(options, report);
  if (!options.common.json.is_on_stdout() && !options.without_summary) print_summary(report);
  if (report.count(Verdict::failed) == 0) return cli::ExitCode::ok;
  std::fprintf(stderr, "Error: Encountered an error or a test failure with status=1\n");
  return cli::ExitCode::failed;
}

}  // namespace

cli::ExitCode run_sanity(cli::Front front, int argc, char** argv) {
  SanityOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  return run(front, options);
}

}  // namespace gdrkit::measure::sanity
