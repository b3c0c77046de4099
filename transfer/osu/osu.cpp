// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit osu: OSU's tests of pairs and of all ranks, on each engine of engines.def.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "gdrkit/gdrkit.h"
#include "measure/harness/samples.hpp"
#include "transfer/engines/mpi_plugin.hpp"
#include "transfer/job/watchdog.hpp"
#include "transfer/osu/osu_loops.hpp"
#include "transfer/osu/osu_options.hpp"
#include "transfer/osu/osu_report.hpp"

namespace gdrkit::transfer::osu {
namespace {

class Run {
 public:
  Run(const Options& options, const Plan& plan, job::ProcessGroup& processes, const engines::MpiStart* mpi)
      : options_(options),
        plan_(plan),
        processes_(processes),
        watchdog_(cli::format("gdrkit osu: rank %d of %d", processes.process(), processes.n_processes()),
                  std::chrono::seconds(options.timeout_s), "--timeout"),
        output_(options, processes.is_first()) {
    check_ranks();
    const int ranks = processes.n_processes();
    part_.rank = processes.process();
    part_.n_ranks = ranks;
    if (!plan.test->is_of_all_ranks()) {
      pairs_ = ranks / 2;
      part_.is_first = part_.rank < pairs_;
      part_.peer = part_.is_first ? part_.rank + pairs_ : part_.rank - pairs_;
    }
    if (processes.is_first()) cli::print_note(processes.choice(), options.is_document_on_stdout());
    part_.place = plan.places[part_.is_first ? 0 : 1];
    run_doctor();
    leave_out_large_sizes();
    const std::size_t part_bytes = std::max(sizes_.back() * buffers(), least_buffer_bytes);
    watchdog_.begin(std::string("start of ") + plan.engine->name);
    // One byte more than the size, which must not change.
    engine_ = plan.engine->make({&processes, plan.test->is_one_sided(), part_.place,
                                 part_bytes * plan.test->source_parts(ranks) + 1,
                                 part_bytes * plan.test->target_parts(ranks) + 1, mpi, options.nccl});
    watchdog_.end();
    part_.engine = engine_.get();
  }

  cli::ExitCode measure() {
    describe();
    processes_.check_in_first([&] { output_.check(report_.result); });
    if (sizes_.size() < plan_.sizes.size()) {
      output_.print(cli::format("# Sizes above %zu bytes are left out: -M allows %zu bytes of buffers for each rank.\n",
                                sizes_.back(), options_.memory_limit));
    }
    output_.print(head_lines(report_.line));
    for (const std::size_t size_bytes : sizes_) {
      report_.rows.push_back(measure_size(size_bytes));
      output_.print(row_line(report_.line, report_.rows.back()));
      report_.result.is_ok = report_.result.is_ok && report_.rows.back().wrong_bytes == 0;
    }
    output_.print(wrong_line(report_.rows));
    report_.path = engine_->path();
    output_.print("# Path: " + report_.path + "\n" + report_.doctor.text());
    watchdog_.begin(std::string("end of ") + plan_.engine->name);
    engine_->end();
    engine_.reset();
    watchdog_.end();
    cli::ExitCode code = report_.result.is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
    processes_.check_in_first([&] {
      report_.result.series = {series_of(report_)};
      write_report_json(options_.json, report_);
      code = output_.finish(report_.result);
    });
    return code;
  }

 private:
  /// Number of buffers for the messages of a window.
  [[nodiscard]] std::size_t buffers() const {
    return options_.buffers == "multiple" ? static_cast<std::size_t>(plan_.window) : 1;
  }

  void leave_out_large_sizes() {
    sizes_ = plan_.sizes;
    if (options_.memory_limit == 0) return;
    const OsuTest& test = *plan_.test;
    const std::size_t parts = buffers() * (test.source_parts(part_.n_ranks) + test.target_parts(part_.n_ranks));
    while (!sizes_.empty() && sizes_.back() > options_.memory_limit / parts) sizes_.pop_back();
    if (!sizes_.empty()) return;
    cli::reject(cli::format(
        "gdrkit osu: -M %zu is too small: messages of %zu B require buffers of %zu B on each rank; increase -M",
        options_.memory_limit, plan_.sizes.front(), plan_.sizes.front() * parts));
  }

  /// fop_latency has two words of 8 bytes.
  static constexpr std::size_t least_buffer_bytes = 16;

  void check_ranks() const {
    const int ranks = processes_.n_processes();
    const char* needed = nullptr;
    switch (plan_.test->ranks) {
      case Ranks::two: needed = ranks == 2 ? nullptr : "exactly 2 ranks"; break;
      case Ranks::pairs: needed = ranks % 2 == 0 ? nullptr : "an even number of ranks"; break;
      case Ranks::any: needed = ranks >= 2 ? nullptr : "at least 2 ranks"; break;
    }
    if (needed == nullptr) return;
    const bool is_mpi = std::string_view(plan_.engine->name) == "mpi";
    cli::reject(cli::format("gdrkit osu: %s requires %s, not %d; use %s gdrkit osu ...", plan_.test->name, needed,
                            ranks, is_mpi ? "mpirun -n 2" : "gdrkit run -n 2 --"));
  }

  /// Collective. Without GPUs the doctor is not run.
  void run_doctor() {
    const bool is_of_test = options_.doctor_root != "/";
    const bool has_gpu = plan_.places != "HH" && !processes_.choice().is_emulated;
    if (!has_gpu && !is_of_test) return;
    std::vector<std::string> own;
    if (part_.place != 'H') own.emplace_back(processes_.device().identity().pci_bus_id);
    watchdog_.begin("results of gdrkit doctor");
    report_.doctor = report::run_doctor_advice(processes_, own, plan_.engine->name, options_.doctor_root);
    watchdog_.end();
  }

  [[nodiscard]] bool validates() const { return options_.validates && plan_.test->has_sizes(); }

  void describe() {
    measure::Result& result = report_.result;
    report::describe_run(&result, "osu", processes_.choice().is_emulated, &processes_.device());
    result.settings = {{"test", plan_.test->name},
                       {"library", engine_->version()},
                       {"ranks", std::to_string(processes_.n_processes())},
                       {"window", std::to_string(plan_.window)}};
    report_.line = {plan_.test,   plan_.engine->name, plan_.places,      pairs_,
                    plan_.window, validates(),        plan_.percentiles, options_.is_full};
    report_.n_ranks = processes_.n_processes();
  }

  OsuRow measure_size(std::size_t size_bytes) {
    const std::string peer = plan_.test->is_of_all_ranks() ? "" : cli::format(" with rank %d", part_.peer);
    watchdog_.begin(cli::format("%s of %zu bytes%s", plan_.test->name, size_bytes, peer.c_str()));
    Work work{plan_.test,
              size_bytes,
              plan_.iterations(options_, size_bytes),
              plan_.warmup(options_, size_bytes),
              plan_.window,
              !plan_.percentiles.empty(),
              options_.buffers == "multiple",
              options_.check_warmup};
    Measured measured = run_loop(part_, work);
    OsuRow row;
    row.size_bytes = size_bytes;
    row.iterations = work.iterations;
    fill_values(work, measured, &row);
    fill_percentiles(work, measured, &row);
    if (validates()) {
      const auto wrong = static_cast<double>(count_wrong_bytes(part_, work, processes_.device()));
      const std::vector<double> all = processes_.gather(wrong);
      row.wrong_bytes = static_cast<std::uint64_t>(std::accumulate(all.begin(), all.end(), 0.0));
    }
    watchdog_.end();
    return row;
  }

  /// For several pairs the average, as all work at the same time; for tests of all ranks the value of all.
  [[nodiscard]] double averaged(double seconds) {
    if (pairs_ == 1) return seconds;
    const std::vector<double> all = processes_.gather(seconds);
    const auto count = static_cast<std::ptrdiff_t>(pairs_ == 0 ? all.size() : static_cast<std::size_t>(pairs_));
    return std::accumulate(all.begin(), all.begin() + count, 0.0) / static_cast<double>(count);
  }

  /// us, or MB/s, of an iteration.
  [[nodiscard]] double value_of(const Work& work, double seconds) const {
    if (work.test->value == Value::latency) return seconds * 1e6 / work.test->messages_per_iteration();
    return messages_of(work) * static_cast<double>(work.size_bytes) / seconds / 1e6;
  }
  [[nodiscard]] double messages_of(const Work& work) const {
    return static_cast<double>(work.window) * pairs_ * (work.test->is_both_ways() ? 2 : 1);
  }

  void fill_values(const Work& work, const Measured& measured, OsuRow* row) {
    const double own_seconds = measured.seconds / work.iterations;
    const double seconds = averaged(own_seconds);
    row->value = value_of(work, seconds);
    if (work.test->value != Value::latency) row->messages_per_second = messages_of(work) / seconds;
    for (const double one : measured.round_seconds) row->rounds.push_back(value_of(work, averaged(one)));
    if (!work.test->is_of_all_ranks()) return;
    const std::vector<double> all = processes_.gather(own_seconds * 1e6);
    row->least = *std::ranges::min_element(all);
    row->largest = *std::ranges::max_element(all);
  }

  /// Of the first rank; for tests of all ranks, of the rank with the largest value.
  void fill_percentiles(const Work& work, const Measured& measured, OsuRow* row) {
    for (const int percent : plan_.percentiles) {
      double value = measure::percentile(measured.each_seconds, percent) * 1e6 / work.test->messages_per_iteration();
      if (work.test->is_of_all_ranks()) {
        const std::vector<double> all = processes_.gather(value);
        value = *std::ranges::max_element(all);
      }
      row->percentiles.push_back(value);
    }
  }

  const Options& options_;
  const Plan& plan_;
  job::ProcessGroup& processes_;
  job::Watchdog watchdog_;
  report::RunOutput output_;
  int pairs_ = 0;  // 0: all ranks together
  Part part_;
  std::vector<std::size_t> sizes_;  // those of the plan that -M allows
  std::unique_ptr<engines::MessageEngine> engine_;
  Report report_;
};

std::unique_ptr<engines::MpiStart> start_of_launcher(const Options& options, const Plan& plan) {
  if (plan.engine->launcher != engines::Launcher::own) return nullptr;
  job::Watchdog watchdog("gdrkit osu", std::chrono::seconds(options.timeout_s), "--timeout");
  watchdog.begin("MPI_Init");
  return std::make_unique<engines::MpiStart>(options.mpi_plugin);
}

}  // namespace

cli::ExitCode run_osu(cli::Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  if (options.shows_version) {
    std::printf("gdrkit %s, with the lines of OSU's micro-benchmarks %s\n", gdrkit_version(), osu_version);
    return cli::ExitCode::ok;
  }
  if (options.prints_plugin_source) {
    std::fputs(engines::mpi_plugin_source().c_str(), stdout);
    return cli::ExitCode::ok;
  }
  const Plan plan = plan_of(options);
  if (plan.engine->before_cuda != nullptr) plan.engine->before_cuda();
  const std::unique_ptr<engines::MpiStart> mpi = start_of_launcher(options, plan);
  job::ProcessGroup processes{"gdrkit osu", std::chrono::seconds(options.timeout_s)};
  if (processes.n_processes() == 1 && !options.is_rank && mpi == nullptr) {
    processes.end();
    std::vector<std::string> words = {"osu", "--as-rank"};
    words.insert(words.end(), argv + 1, argv + argc);
    job::start_job(2, words);
  }
  const cli::ExitCode code = Run(options, plan, processes, mpi.get()).measure();
  processes.end();
  return code;
}

}  // namespace gdrkit::transfer::osu
