// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem check: every operation of libgdrkit_shmem between all PEs, with the data compared.
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "cli/interface/common_options.hpp"
#include "cli/interface/device_choice.hpp"
#include "cli/interface/suggestion.hpp"
#include "transfer/shmem/check/check_report.hpp"
#include "transfer/shmem/check/transfer_plan.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr int most_pes = 1024;
constexpr std::uint64_t heap_bytes = std::uint64_t{64} << 20;
constexpr std::uint32_t timeout_ms = 60'000;

struct Options {
  CheckOptions check;
  std::vector<std::string> names;
  cli::DocumentOption json;
  int n_pes = -1;  // from the launcher, or 2
  bool is_pe = false;
  bool is_list = false;
};

cli::CommandLine command_line(Options* options) {
  cli::CommandLine line;
  line.name = "shmem check";
  line.summary =
      "Calls every operation of libgdrkit_shmem between all PEs and compares the data. Without a launcher it starts "
      "itself with 2 PEs.";
  line.example = "gdrkit shmem check\n  gdrkit shmem check -n 4 --json\n  mpirun -np 8 gdrkit shmem check";
  line.options = {
      {'n', "pes", "N", &options->n_pes, "number of PEs to start here (default: of the launcher, or 2)", false, false},
      {'e', "largest", "SIZE", &options->check.largest_bytes, "largest put and get", false},
      {'\0', "rounds", "N", &options->check.rounds, "repetitions of each exchange", false},
      {'t', "test", "NAME", &options->names, "run this check; can be repeated", false},
      {'l', "list", "", &options->is_list, "list the checks and exit", false},
      {'\0', "as-pe", "", &options->is_pe, "start no other PEs", false, true, false, 1, true},
      {'\0', "spoil", "CHECK", &options->check.spoiled, "change a received byte on the last PE", false, true, false, 1,
       true},
      cli::json_option(&options->json, "transfer/shmem/README.md"),
  };
  return line;
}

std::vector<const Check*> chosen_checks(const std::vector<std::string>& names) {
  std::vector<const Check*> chosen;
  std::vector<std::string> known;
  for (const Check& check : all_checks) known.emplace_back(check.name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      cli::reject("gdrkit shmem check: unknown check '" + name + "'" + cli::did_you_mean(name, known) +
                  "; --list lists them");
    }
  }
  for (const Check& check : all_checks) {
    if (names.empty() || std::ranges::find(names, check.name) != names.end()) chosen.push_back(&check);
  }
  return chosen;
}

void check_values(const Options& options) {
  if (options.n_pes == 0 || options.n_pes > most_pes)
    cli::reject(cli::format("gdrkit shmem check: -n %d is out of range: use 1 to %d", options.n_pes, most_pes));
  if (options.check.largest_bytes == 0) cli::reject("gdrkit shmem check: --largest 0 is out of range: use 1 to 8M");
  if (options.check.largest_bytes > largest_planned_bytes)
    cli::reject(
        cli::format("gdrkit shmem check: --largest %zu is out of range: use at most 8M; gdrkit shmem bench --bulk "
                    "measures larger sizes",
                    options.check.largest_bytes));
  if (options.check.rounds < 1)
    cli::reject(cli::format("gdrkit shmem check: --rounds %d is out of range: use at least 1", options.check.rounds));
}

/// Collective. Returns the results of all PEs in turn on PE 0, and on the others no complete one.
std::vector<CheckResult> gather(Checker& checker, const CheckResult& own) {
  std::vector<CheckResult> all(static_cast<std::size_t>(checker.n_pes()));
  const std::size_t all_bytes = all.size() * sizeof own;
  const SymmetricMemory memory(checker, all_bytes);
  checker.fill(memory.data(), 0, all_bytes);
  checker.barrier();
  job::require(gdrkit_shmem_put(memory.as<CheckResult>() + checker.pe(), &own, sizeof own, 0),
               "put of the results to PE 0");
  checker.barrier();
  if (checker.pe() == 0) checker.read(all.data(), memory.data(), all_bytes);
  return all;
}

/// Returns the verdict of the job on PE 0, and true on the others, so that no launcher ends PE 0 before it has printed.
bool run_checks(job::PeSession& session, const Options& options, const std::vector<const Check*>& checks) {
  const bool is_first = session.pe() == 0;
  CheckReport report;
  report.n_pes = session.n_pes();
  report.is_emulated = session.choice().is_emulated;
  report.machine = platform::describe_machine(&session.device());
  const bool prints = is_first && !options.json.is_on_stdout();
  if (is_first) cli::print_note(session.choice(), options.json.is_on_stdout());
  if (prints) print_check_head(report);
  Checker checker(session, options.check);
  for (const Check* check : checks) {
    checker.begin(check->name);
    std::vector<CheckResult> all;
    try {
      check->run(checker);
      all = gather(checker, checker.finish());
    } catch (const cli::Failure&) {
      checker.print_failures();
      throw;
    }
    if (!is_first) continue;
    report.checks.push_back(summarise(*check, all));
    if (prints) print_check(report.checks.back());
    std::fflush(stdout);
  }
  if (!is_first) return true;
  if (prints) print_check_end(report);
  write_check_json(options.json, report);
  return report.is_ok();
}

}  // namespace

cli::ExitCode run_check(cli::Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  check_values(options);
  const std::vector<const Check*> checks = chosen_checks(options.names);
  if (options.is_list) {
    for (const Check* check : checks) std::printf("%-12s %s\n", check->name, check->summary);
    return cli::ExitCode::ok;
  }
  std::vector<std::string> words = {"shmem", "check", "--as-pe"};
  words.insert(words.end(), argv + std::min(argc, 1), argv + argc);
  if (options.n_pes > 0 && !options.is_pe) {
    (void)cli::choose_device(cli::find_gpus());  // one error message instead of one for each PE
    job::start_job(options.n_pes, words);
  }
  job::SessionRequest request;
  request.heap_bytes = heap_bytes;
  request.timeout_ms = timeout_ms;
  job::PeSession session(request);
  if (session.n_pes() == 1 && !options.is_pe) {
    session.end();
    job::start_job(2, words);
  }
  const bool is_ok = run_checks(session, options, checks);
  session.end();
  return is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
}

}  // namespace gdrkit::transfer::shmem
