// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit osu: OSU's point-to-point and one-sided tests, on UCX and on libgdrkit_shmem.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "gdrkit/gdrkit.h"
#include "transfer/common/watchdog.hpp"
#include "transfer/osu/options.hpp"
#include "transfer/osu/report.hpp"
#include "transfer/osu/validation.hpp"

namespace gdrkit::tools {
namespace osu {
namespace {

class Run {
 public:
  Run(const Options& options, const Plan& plan, transfer::ProcessGroup& processes)
      : options_(options),
        plan_(plan),
        processes_(processes),
        watchdog_(format("gdrkit osu: rank %d of %d", processes.process(), processes.n_processes()),
                  std::chrono::seconds(options.timeout_s)) {
    const int ranks = processes.n_processes();
    const bool is_even = ranks % 2 == 0;
    if (plan.test->pairs == Pairs::one ? ranks != 2 : !is_even) {
      throw Failure(ExitCode::usage,
                    format("gdrkit osu: %s needs %s ranks, not %d: gdrkit run -n 2 -- gdrkit osu ...", plan.test->name,
                           plan.test->pairs == Pairs::one ? "exactly 2" : "an even number of", ranks));
    }
    pairs_ = ranks / 2;
    part_.is_first = processes.process() < pairs_;
    part_.peer = part_.is_first ? processes.process() + pairs_ : processes.process() - pairs_;
    if (processes.is_first()) print_note(processes.session().choice(), options.json.is_on_stdout());
    part_.place = plan.places[part_.is_first ? 0 : 1];
    watchdog_.begin("start of " + options.engine);
    // A byte more, which nothing may change.
    engine_ = plan.engine->make({&processes, plan.test, part_.place, std::max<std::size_t>(plan.sizes.back(), 8) + 1});
    watchdog_.end();
    part_.engine = engine_.get();
  }

  ExitCode measure() {
    describe();
    print(head_lines(report_.line));
    for (const std::size_t size_bytes : plan_.sizes) {
      report_.rows.push_back(measure_size(size_bytes));
      report_.iterations.push_back(plan_.iterations(options_, size_bytes));
      print(row_line(report_.line, report_.rows.back()));
      report_.result.is_ok = report_.result.is_ok && report_.rows.back().is_right;
    }
    report_.path = engine_->path();
    print("# Path: " + report_.path + "\n");
    watchdog_.begin("end of " + options_.engine);
    engine_->end();
    engine_.reset();
    watchdog_.end();
    if (processes_.is_first()) write_report_json(options_.json, report_);
    return report_.result.is_ok ? ExitCode::ok : ExitCode::failed;
  }

 private:
  void print(const std::string& text) const {
    if (!processes_.is_first() || options_.json.is_on_stdout()) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  void describe() {
    measure::Result& result = report_.result;
    result.tool = "osu";
    result.version = gdrkit_version();
    result.date = today();
    result.is_emulated = processes_.session().choice().is_emulated;
    result.machine = platform::describe_machine(&processes_.session().device());
    result.settings = {{"test", plan_.test->name},
                       {"library", engine_->version()},
                       {"ranks", std::to_string(processes_.n_processes())},
                       {"window", std::to_string(plan_.window)}};
    report_.line = {plan_.test,   options_.engine,    plan_.places,     pairs_,
                    plan_.window, options_.validates, plan_.percentiles};
  }

  OsuRow measure_size(std::size_t size_bytes) {
    watchdog_.begin(format("%s of %zu bytes", plan_.test->name, size_bytes));
    Work work{plan_.test,
              size_bytes,
              plan_.iterations(options_, size_bytes),
              plan_.warmup(options_, size_bytes),
              plan_.window,
              !plan_.percentiles.empty()};
    Measured measured = run_loop(part_, work);
    OsuRow row;
    row.size_bytes = size_bytes;
    fill_values(work, measured, &row);
    if (options_.validates) {
      const auto wrong = static_cast<double>(count_wrong_bytes(part_, work, processes_.session().device()));
      const std::vector<double> all = processes_.gather(wrong);
      row.is_right = std::accumulate(all.begin(), all.end(), 0.0) == 0;
    }
    watchdog_.end();
    return row;
  }

  void fill_values(const Work& work, Measured& measured, OsuRow* row) {
    // Of several pairs the average, as all have worked at once.
    double seconds = measured.seconds;
    if (pairs_ > 1) {
      const std::vector<double> all = processes_.gather(seconds);
      seconds = std::accumulate(all.begin(), all.begin() + pairs_, 0.0) / pairs_;
    }
    const double messages = work.iterations * work.test->messages_per_iteration();
    if (work.test->value == Value::latency) {
      row->value = seconds * 1e6 / messages;
    } else {
      const double sent = messages * work.window * pairs_ * (work.test->is_both_ways() ? 2 : 1);
      row->messages_per_second = sent / seconds;
      row->value = row->messages_per_second * static_cast<double>(work.size_bytes) / 1e6;
    }
    std::sort(measured.each_seconds.begin(), measured.each_seconds.end());
    for (const int percentile : plan_.percentiles) {
      const auto count = static_cast<double>(measured.each_seconds.size());
      const auto rank = static_cast<std::size_t>(std::ceil(percentile / 100.0 * count));
      row->percentiles.push_back(measured.each_seconds[rank - 1] * 1e6 / work.test->messages_per_iteration());
    }
  }

  const Options& options_;
  const Plan& plan_;
  transfer::ProcessGroup& processes_;
  transfer::Watchdog watchdog_;
  int pairs_ = 1;
  Part part_;
  std::unique_ptr<OsuEngine> engine_;
  Report report_;
};

}  // namespace
}  // namespace osu

ExitCode run_osu(Front front, int argc, char** argv) {
  osu::Options options;
  if (const auto ended = parse(osu::command_line(&options), front, argc, argv)) return *ended;
  if (options.shows_version) {
    std::printf("gdrkit %s, with the lines of OSU's micro-benchmarks %s\n", gdrkit_version(), osu::osu_version);
    return ExitCode::ok;
  }
  const osu::Plan plan = osu::plan_of(options);
  transfer::ProcessGroup processes{std::chrono::seconds(options.timeout_s)};
  if (processes.n_processes() == 1 && !options.is_rank) {
    processes.end();
    std::vector<std::string> words = {"osu", "--as-rank"};
    words.insert(words.end(), argv + 1, argv + argc);
    pgas::start_job(2, words);
  }
  const ExitCode code = osu::Run(options, plan, processes).measure();
  processes.end();
  return code;
}

}  // namespace gdrkit::tools
