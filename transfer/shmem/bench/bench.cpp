// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem bench: latency and bandwidth of libgdrkit_shmem's operations, and of an installed NVSHMEM next to it.
//
// Each PE of each library is a process of its own (worker.hpp). This one commands them, so that the rounds of both
// libraries alternate and whoever is not measured sleeps.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/common/common_options.hpp"
#include "cli/common/device_choice.hpp"
#include "cli/common/size.hpp"
#include "cli/common/suggestion.hpp"
#include "gdrkit/gdrkit.h"
#include "transfer/shmem/bench/bench_report.hpp"
#include "transfer/shmem/bench/nvshmem_job.hpp"
#include "transfer/shmem/bench/worker.hpp"
#include "transfer/shmem/bench/worker_job.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::tools::pgas {
namespace {

constexpr int most_rounds = 1000;
constexpr int most_iterations = 100'000'000;
constexpr int most_pes = 64;
constexpr double batch_ns = 2e6;
/// Of one point and library; the largest sizes then have fewer rounds.
constexpr double budget_ns = 1e9;
constexpr std::size_t most_operations = 20000;
constexpr double us = 1000;

struct Options {
  SizeRange sizes;
  std::vector<std::string> names;
  std::string peer;
  std::string nvshmem_path;
  DocumentOption json;
  int n_pes = 2;
  int rounds = 21;
  int iterations = 0;
  int warmup = 0;
  int singles = 1000;
  int starts = 3;
  bool is_quiet = false;
  bool is_list = false;
  std::string worker;
  int channel = -1;
};

CommandLine command_line(Options* options) {
  CommandLine line;
  line.name = "shmem bench";
  line.summary =
      "Measures one-sided communication from the CPU between GPUs of this machine: latency, bandwidth, atomics, "
      "barriers. It starts the PEs itself.";
  line.example = "gdrkit shmem bench --json\n  gdrkit shmem bench --peer nvshmem -t put_host_quiet -t barrier_all";
  line.options = {
      {'b', "min", "SIZE", &options->sizes.smallest_bytes, "smallest size of latencies", false},
      {'e', "max", "SIZE", &options->sizes.largest_bytes, "largest size of latencies", false},
      {'\0', "bulk", "SIZE", &options->sizes.largest_bulk_bytes, "largest size of bandwidths; they begin at 1M", false},
      {'n', "iterations", "N", &options->iterations, "operations in a round; default: as many as take 2 ms", false,
       false},
      {'w', "warm-up", "N", &options->warmup, "operations before the rounds; default: a few of each size", false,
       false},
      {'\0', "rounds", "N", &options->rounds, "rounds, of which each value is the median", false},
      {'\0', "singles", "N", &options->singles, "operations timed one by one, for percentiles", false},
      {'\0', "starts", "N", &options->starts, "how often the time from start to first put is taken", false},
      {'\0', "pes", "N", &options->n_pes, "PEs to start", false},
      {'t', "test", "NAME", &options->names, "measure this; can be repeated", false},
      {'l', "list", "", &options->is_list, "list what is measured and exit", false},
      {'\0', "peer", "LIBRARY", Choice{{"nvshmem"}, &options->peer, ""}, "measure an installed library next to it",
       false, false},
      {'\0', "nvshmem", "FILE", &options->nvshmem_path,
       "libnvshmem_host.so.3; default: of $NVSHMEM_HOME or Python's packages", false, false},
      {'q', "quiet", "", &options->is_quiet, "no progress on stderr", false},
      {'\0', "worker", "LIBRARY", &options->worker, "be a PE of it", false, false, false, 1, true},
      {'\0', "channel", "N", &options->channel, "the worker's socket", false, false, false, 1, true},
      json_option(&options->json, "transfer/shmem/README.md"),
  };
  return line;
}

void check_count(const char* name, int value, int least, int most) {
  if (value < least || value > most) {
    throw Failure(ExitCode::usage, format("gdrkit shmem bench: %s must be from %d to %d", name, least, most));
  }
}

void check(const Options& options) {
  check_count("--pes", options.n_pes, 1, most_pes);
  check_count("--rounds", options.rounds, 1, most_rounds);
  check_count("-n", options.iterations, 0, most_iterations);
  check_count("-w", options.warmup, 0, most_iterations);
  check_count("--singles", options.singles, 0, most_iterations);
  check_count("--starts", options.starts, 1, most_rounds);
  if (options.sizes.smallest_bytes == 0 || options.sizes.smallest_bytes > options.sizes.largest_bytes) {
    throw Failure(ExitCode::usage, "gdrkit shmem bench: -b must be from 1 to -e");
  }
}

/// Numbers of the cases, in the order of cases.def.
std::vector<std::size_t> chosen_cases(const Options& options) {
  std::vector<std::string> known;
  for (const Case& one : all_cases()) known.emplace_back(one.name);
  for (const std::string& name : options.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Failure(ExitCode::usage, "gdrkit shmem bench: there is no '" + name + "'" + did_you_mean(name, known) +
                                       "; --list lists what there is");
  }
  std::vector<std::size_t> chosen;
  for (std::size_t number = 0; number < known.size(); ++number) {
    const bool is_named = std::find(options.names.begin(), options.names.end(), known[number]) != options.names.end();
    const bool needs_peer = std::string(known[number]) == "ping_pong" && options.n_pes < 2;
    if ((options.names.empty() || is_named) && !needs_peer) chosen.push_back(number);
  }
  return chosen;
}

measure::Series series_of(const std::string& name, const std::string& title, const std::string& library) {
  measure::Series series;
  series.id = "shmem/" + name + "/" + library;
  series.group = name;
  series.title = title + " (" + library + ")";
  series.operation = name;
  series.method = library;
  series.x_name = "size_bytes";
  series.unit = "us";
  return series;
}

/// Nanoseconds for one operation to GB/s.
measure::Point bandwidth_point(std::size_t size_bytes, const measure::Measured& measured) {
  std::vector<double> rates;
  for (const double ns : measured.round_ns) rates.push_back(static_cast<double>(size_bytes) / ns);
  return measure::make_point(static_cast<double>(size_bytes), rates, measured.operations_per_round);
}

measure::Single scaled(measure::Single single, double unit_ns) {
  for (double* value : {&single.minimum, &single.p50, &single.p99, &single.p999, &single.maximum}) *value /= unit_ns;
  return single;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {
    std::size_t largest = std::max(options.sizes.largest_bytes, options.sizes.largest_bulk_bytes);
    own_ = std::make_unique<WorkerJob>("gdrkit", "", options.n_pes, largest);
    if (!options.peer.empty()) {
      peer_ = std::make_unique<WorkerJob>(options.peer, find_nvshmem(options.nvshmem_path), options.n_pes, largest);
    }
  }

  BenchReport run(const std::vector<std::size_t>& numbers) {
    describe();
    measure_starts();
    for (const std::size_t number : numbers) {
      const Case& one = all_cases()[number];
      progress(one.title());
      report_.cases.push_back(measure_case(number, one));
      if (!options_.json.is_on_stdout()) {
        std::fputs(table_text(report_.cases.back(), report_.peer_name).c_str(), stdout);
        std::fflush(stdout);
      }
    }
    own_->end();
    if (peer_) with_peer("end", [&] { peer_->end(); });
    return std::move(report_);
  }

 private:
  void progress(const std::string& text) const {
    if (!options_.is_quiet) std::fprintf(stderr, "measuring %s\n", text.c_str());
  }

  void describe() {
    const DeviceChoice choice = choose_device(find_gpus());
    print_note(choice, options_.json.is_on_stdout());
    measure::Result& result = report_.result;
    result.tool = "shmem bench";
    result.version = gdrkit_version();
    result.date = today();
    result.is_emulated = choice.is_emulated;
    if (choice.is_emulated && peer_ && options_.nvshmem_path.empty()) {
      throw Failure(ExitCode::cannot_run, "gdrkit shmem bench: --peer nvshmem needs GPUs, and there is none");
    }
    result.machine = platform::describe_machine(open_device(choice, 0).get());
    result.clock = measure::describe(clock_);
    result.settings = {{"pes", std::to_string(options_.n_pes)},
                       {"rounds", std::to_string(options_.rounds)},
                       {"singles", std::to_string(options_.singles)}};
  }

  /// A failure of the other library costs its figures, not the run.
  template <class Function>
  bool with_peer(const std::string& what, Function function) {
    try {
      function();
      return true;
    } catch (const WorkerFailure& failure) {
      report_.result.notes.push_back(what + ": " + failure.what());
      std::fprintf(stderr, "%s\n", printable("NOTE: " + report_.result.notes.back()).c_str());
      return false;
    }
  }

  void measure_starts() {
    progress("start to first put");
    std::vector<double> own;
    std::vector<double> other;
    for (int number = 0; number < options_.starts; ++number) {
      own_->end();
      own.push_back(own_->start() / us);
      if (!peer_) continue;
      const bool has_started = with_peer("start of " + peer_->library(), [&] {
        peer_->end();
        other.push_back(peer_->start() / us);
      });
      if (!has_started) peer_.reset();
    }
    if (peer_) report_.peer_name = peer_->library() + " " + peer_->version();
    std::string devices;
    for (const int device : own_->devices()) devices += (devices.empty() ? "" : ",") + std::to_string(device);
    report_.result.settings["devices"] = devices;
    CaseResult result;
    result.name = "start";
    result.title = "from the start of the processes to the end of the first put";
    result.own = series_of("start", result.title, "gdrkit");
    result.own.points.push_back(measure::make_point(0, own, 1));
    if (peer_) {
      result.peer = series_of("start", result.title, peer_->library());
      result.peer->points.push_back(measure::make_point(0, other, 1));
    }
    if (!options_.json.is_on_stdout()) std::fputs(table_text(result, report_.peer_name).c_str(), stdout);
    report_.cases.push_back(std::move(result));
  }

  CaseResult measure_case(std::size_t number, const Case& one) {
    CaseResult result;
    result.name = one.name;
    result.title = one.title();
    result.is_bandwidth = one.is_bandwidth();
    result.has_size = one.sizes != Sizes::none;
    result.own = series_for(one, "gdrkit");
    const std::vector<std::size_t> sizes = sizes_of(one, options_.sizes);
    if (!sizes.empty() && peer_has(number, one, sizes.front())) result.peer = series_for(one, peer_->library());
    for (const std::size_t size : sizes) {
      if (result.peer && !peer_) result.peer.reset();
      measure_point(number, one, size, &result);
    }
    return result;
  }

  [[nodiscard]] measure::Series series_for(const Case& one, const std::string& library) const {
    measure::Series series = series_of(one.name, one.title(), library);
    series.operation = one.operation;
    if (*one.memory != '\0') series.conditions["memory"] = one.memory;
    if (*one.completion != '\0') series.conditions["completion"] = one.completion;
    if (options_.n_pes != 2) series.conditions["pes"] = std::to_string(options_.n_pes);
    if (one.is_bandwidth()) {
      series.unit = "GB/s";
      series.is_lower_better = false;
    }
    return series;
  }

  bool peer_has(std::size_t number, const Case& one, std::size_t size_bytes) {
    if (!peer_) return false;
    bool has_it = false;
    const bool is_alive = with_peer(one.title(), [&] { has_it = peer_->can_run(number, size_bytes); });
    if (!is_alive) restart_peer();
    if (is_alive && !has_it) {
      report_.result.notes.push_back(peer_->library() + " has no host API for: " + one.title());
    }
    return is_alive && has_it;
  }

  void restart_peer() {
    if (!with_peer("start of " + peer_->library(), [&] { (void)peer_->start(); })) peer_.reset();
  }

  [[nodiscard]] measure::Contender contender(WorkerJob* job, std::size_t number, std::size_t size_bytes) const {
    measure::Contender made;
    made.name = job->library();
    made.run_batch = [=](std::size_t count) { return job->run_batch(number, size_bytes, count); };
    return made;
  }

  void measure_point(std::size_t number, const Case& one, std::size_t size_bytes, CaseResult* result) {
    std::vector<WorkerJob*> jobs = {own_.get()};
    if (result->peer) jobs.push_back(peer_.get());
    measure::RoundsRequest request;
    request.rounds = options_.rounds;
    request.batch_ns = options_.iterations == 0 ? batch_ns : 1e15;
    request.most_operations =
        options_.iterations == 0 ? most_operations : static_cast<std::size_t>(options_.iterations);
    request.budget_ns = budget_ns * static_cast<double>(jobs.size());
    std::vector<measure::Contender> contenders;
    const auto warmup = static_cast<std::size_t>(options_.warmup);
    std::vector<measure::Measured> measured;
    std::vector<measure::Single> singles;
    const auto measure_all = [&] {
      for (WorkerJob* job : jobs) {
        contenders.push_back(contender(job, number, size_bytes));
        if (warmup != 0) (void)job->run_batch(number, size_bytes, warmup);
      }
      measured = measure::measure_rounds(contenders, request, clock_);
      for (WorkerJob* job : jobs) singles.push_back(run_singles(job, number, size_bytes));
    };
    if (result->peer) {
      // Should the peer end here, the point is measured again without it.
      if (!with_peer(one.title(), measure_all)) {
        restart_peer();
        result->peer.reset();
        return measure_point(number, one, size_bytes, result);
      }
    } else {
      measure_all();
    }
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      measure::Point point = one.is_bandwidth() ? bandwidth_point(size_bytes, measured[i])
                                                : measure::make_point(static_cast<double>(size_bytes), measured[i], us);
      if (singles[i].count != 0) point.single = scaled(singles[i], us);
      (i == 0 ? result->own : *result->peer).points.push_back(std::move(point));
    }
  }

  /// Of latencies alone; of large ones fewer.
  [[nodiscard]] measure::Single run_singles(WorkerJob* job, std::size_t number, std::size_t size_bytes) const {
    constexpr std::size_t largest_timed_bytes = 65536;
    if (options_.singles == 0 || size_bytes > largest_timed_bytes) return {};
    return job->run_singles(number, size_bytes, static_cast<std::size_t>(options_.singles));
  }

  const Options& options_;
  measure::Clock clock_;
  std::unique_ptr<WorkerJob> own_;
  std::unique_ptr<WorkerJob> peer_;  // empty without one, or once it cannot start any more
  BenchReport report_;
};

}  // namespace

ExitCode run_bench(Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  if (!options.worker.empty()) return run_worker(options.worker, options.nvshmem_path, options.channel);
  check(options);
  const std::vector<std::size_t> numbers = chosen_cases(options);
  if (options.is_list) {
    for (const std::size_t number : numbers) {
      std::printf("%-24s %s\n", all_cases()[number].name, all_cases()[number].title().c_str());
    }
    return ExitCode::ok;
  }
  try {
    const BenchReport report = Bench(options).run(numbers);
    write_bench_json(options.json, report);
    return report.result.is_ok ? ExitCode::ok : ExitCode::failed;
  } catch (const WorkerFailure& failure) {
    throw Failure(ExitCode::failed, std::string("gdrkit shmem bench: ") + failure.what());
  }
}

}  // namespace gdrkit::tools::pgas
