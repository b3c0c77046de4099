// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem bench: latency, bandwidth and rates of libgdrkit_shmem's operations, and of installed libraries next to
// it.
#include <cstdio>
#include <optional>

#include "transfer/shmem/bench/bench_compare.hpp"
#include "transfer/shmem/bench/bench_options.hpp"
#include "transfer/shmem/bench/bench_report.hpp"
#include "transfer/shmem/bench/bench_run.hpp"
#include "transfer/shmem/bench/worker.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::transfer::shmem {

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
    throw cli::Failure(cli::ExitCode::failed, std::string("gdrkit shmem bench: ") + failure.what());
  }
}

}  // namespace gdrkit::transfer::shmem
