// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem bench: latency, bandwidth and rates of libgdrkit_shmem's operations, and of installed libraries next to
// it.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/interface/exit_code.hpp"
#include "measure/compare/retrial.hpp"
#include "measure/result/result.hpp"
#include "transfer/report/run_report.hpp"
#include "transfer/shmem/bench/bench_options.hpp"
#include "transfer/shmem/bench/bench_report.hpp"
#include "transfer/shmem/bench/bench_run.hpp"
#include "transfer/shmem/bench/worker.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// Removes cases and sizes that the options do not select, so that they do not count as missing.
void narrow_to(const BenchOptions& options, measure::Result* old) {
  std::vector<std::string> names = {"start"};
  for (const std::size_t number : chosen_cases(options)) names.emplace_back(all_cases()[number].name);
  std::erase_if(old->series,
                [&](const measure::Series& one) { return std::ranges::find(names, one.group) == names.end(); });
}

std::string pes_of(const measure::Result& result) {
  const auto found = result.settings.find("pes");
  return found == result.settings.end() ? "" : found->second;
}

/// --compare, by measure/compare.
class BenchCompare {
 public:
  /// Reads the old file and keeps the series that the options select. Throws Failure(usage).
  explicit BenchCompare(const BenchOptions& options);

  /// Before measuring: whether results with this head can be compared. Throws Failure(usage).
  void check(const measure::Result& head) const;
  /// Compares, measures outliers again by `run`, and prints. failed: a series is slower; usage: the comparison is not
  /// conclusive.
  [[nodiscard]] cli::ExitCode compare_with(const measure::Result& current, BenchRun* run) const;

 private:
  const BenchOptions& options_;
  report::EarlierResult old_;
};

BenchCompare::BenchCompare(const BenchOptions& options)
    : options_(options), old_(options.compare_path, options.is_forced, "gdrkit shmem bench") {
  narrow_to(options, &old_.result());
}

void BenchCompare::check(const measure::Result& head) const {
  old_.check(head);
  const std::string pes = pes_of(old_.result());
  if (pes != pes_of(head)) {
    old_.refuse("cannot compare with " + options_.compare_path + ": it was measured with " + pes + " PEs; use --pes " +
                pes);
  }
}

cli::ExitCode BenchCompare::compare_with(const measure::Result& current, BenchRun* run) const {
  measure::bench::CompareReport report = old_.compare(current);
  if (options_.has_own_sizes()) report.comparison.vanished.clear();
  for (measure::RetriedPoint& found : measure::retry_suspects(
           report.comparison,
           [&](const std::vector<const measure::ComparedPoint*>& suspects) { return run->measure_again(suspects); })) {
    const bool is_slower = found.outcome == measure::Outcome::slower;
    const bool is_cleared = found.outcome == measure::Outcome::cleared;
    if (!is_slower && !is_cleared && found.point.is_slower()) {
      report.undecided.push_back(found.point.name() + " could not be measured again");
    }
    (is_slower ? report.slower : is_cleared ? report.cleared : report.unresolved).push_back(std::move(found));
  }
  for (std::string& clause : report.comparison.undecided()) report.undecided.push_back(std::move(clause));
  std::fputs(cli::printable(measure::bench::report_text(report)).c_str(),
             options_.json.is_on_stdout() ? stderr : stdout);
  return report.exit_code();
}

}  // namespace

cli::ExitCode run_bench(cli::Front front, int argc, char** argv) {
  BenchOptions options;
  if (const auto ended = parse_bench_options(front, argc, argv, &options)) return *ended;
  if (!options.worker.empty()) return run_worker(options.worker, options.files, options.channel);
  const std::vector<std::size_t> numbers = chosen_cases(options);
  if (options.is_list) {
    for (const std::size_t number : numbers) {
      std::printf("%-28s %s\n", all_cases()[number].name, all_cases()[number].title().c_str());
    }
    return cli::ExitCode::ok;
  }
  try {
    std::optional<BenchCompare> comparison;
    if (!options.compare_path.empty()) comparison.emplace(options);
    BenchRun run(options);
    if (comparison) comparison->check(run.head());
    const BenchReport report = run.run(numbers);
    write_bench_json(options.json, report);
    const cli::ExitCode code = comparison ? comparison->compare_with(whole_result(report), &run) : cli::ExitCode::ok;
    return report.result.is_ok ? code : cli::ExitCode::failed;
  } catch (const WorkerFailure& failure) {
    cli::fail(std::string("gdrkit shmem bench: ") + failure.what());
  }
}

}  // namespace gdrkit::transfer::shmem
