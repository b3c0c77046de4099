// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit nccl: nccl-tests' measurements of collectives, on the installed NCCL.
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/interface/size.hpp"
#include "transfer/nccl/measurement.hpp"
#include "transfer/nccl/nccl_report.hpp"
#include "transfer/report/doctor_advice.hpp"

namespace gdrkit::transfer::nccl {
namespace {

std::string host_name() {
  const std::string text = report::machine_name();
  return text.substr(0, text.find('.'));
}

void check_ranks(const Options& options, const engines::Collective& collective, int n_ranks) {
  if (!collective.runs_with(n_ranks)) {
    cli::reject(
        cli::format("gdrkit nccl: %s requires a power-of-two number of ranks, not %d; change -g, or -n of gdrkit run",
                    collective.name, n_ranks));
  }
  if (!collective.has_root || options.root < n_ranks) return;
  cli::reject(cli::format("gdrkit nccl: -r %d is out of range: the ranks are 0 to %d", options.root, n_ranks - 1));
}

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options),
        collective_(chosen_collective(options)),
        processes_("gdrkit nccl", std::chrono::seconds(options.timeout_s)),
        n_ranks_(processes_.n_processes() * options.gpus),
        watchdog_(cli::format("gdrkit nccl: rank %d of %d", processes_.process() * options.gpus, n_ranks_),
                  std::chrono::seconds(options.timeout_s), "-T"),
        output_(options, processes_.is_first()) {
    check_ranks(options, collective_, n_ranks_);
    if (processes_.is_first()) cli::print_note(processes_.choice(), options.is_document_on_stdout());
    gpus_ = open_rank_gpus(processes_, options.gpus);
    run_doctor();
    engines::CollectiveRequest request{
        &processes_, {}, n_ranks_, options.library, static_cast<engines::Registration>(options.registered)};
    for (RankGpu& gpu : gpus_) request.locals.push_back({gpu.rank(), &gpu.device(), gpu.stream()});
    watchdog_.begin("start of " + options.engine);
    for (const engines::CollectiveEngineKind& engine : engines::all_collective_engines()) {
      if (options.engine == engine.name) engine_ = engine.make(request);
    }
    watchdog_.end();
  }

  cli::ExitCode measure() {
    describe();
    processes_.check_in_first([&] { output_.check(report_.result); });
    Measurement measurement(options_, {&processes_, &watchdog_, engine_.get(), &gpus_});
    print_head();
    for (const engines::ElementType* type : chosen_types(options_)) {
      for (const engines::Reduction* reduction : chosen_reductions(options_, collective_)) {
        if (const std::string why = engine_->refusal(collective_, *type, *reduction); !why.empty()) {
          refuse(why);
        } else {
          measure_sizes(measurement, *type, *reduction);
        }
      }
    }
    return finish();
  }

 private:
  /// Collective. The doctor does not examine emulated GPUs.
  void run_doctor() {
    if (processes_.choice().is_emulated && options_.doctor_root == "/") return;
    std::vector<std::string> own;
    for (RankGpu& gpu : gpus_) own.emplace_back(gpu.device().identity().pci_bus_id);
    watchdog_.begin("results of gdrkit doctor");
    report_.doctor = report::run_doctor_advice(processes_, own, options_.engine, options_.doctor_root);
    watchdog_.end();
  }

  /// With `all`, the remaining collectives are measured.
  void refuse(const std::string& why) {
    if (options_.type != "all" && options_.reduction != "all") {
      cli::cannot_run("gdrkit nccl: " + why);
    }
    report_.result.notes.push_back(why);
    output_.print("# left out: " + why + "\n");
  }

  void describe() {
    measure::Result& result = report_.result;
    report::describe_run(&result, "nccl", processes_.choice().is_emulated, &gpus_.front().device());
    result.settings = {{"test", collective_.name},
                       {"library", engine_->version()},
                       {"ranks", std::to_string(n_ranks_)},
                       {"processes", std::to_string(processes_.n_processes())},
                       {"iterations", std::to_string(options_.iterations)},
                       {"aggregated", std::to_string(options_.aggregated)}};
    if (options_.registered != 0) result.settings["registered"] = std::to_string(options_.registered);
    report_.test = collective_.name;
    report_.engine = options_.engine;
    report_.n_ranks = n_ranks_;
    report_.iterations = options_.iterations * options_.aggregated;
  }

  /// Collective: each process reports its GPUs.
  void print_head() {
    std::string own;
    for (RankGpu& gpu : gpus_) {
      const platform::DeviceIdentity& identity = gpu.device().identity();
      if (!own.empty()) own += '\n';
      own += device_line(gpu.rank(), ::getpid(), host_name(), identity.ordinal, identity.pci_bus_id, identity.name);
    }
    const std::vector<std::string> devices = processes_.gather(own);
    output_.print(head_text(options_, collective_.name, engine_->version_field(), devices));
  }

  void measure_sizes(Measurement& measurement, const engines::ElementType& type, const engines::Reduction& reduction) {
    measurement.warm_up(type, reduction);
    for (int cycle = 0; cycle < options_.cycles; ++cycle) {
      for (const std::size_t size_bytes : options_.sizes()) {
        report_.rows.push_back(measurement.measure(size_bytes, type, reduction));
        output_.print(row_text(report_.rows.back()));
      }
    }
  }

  /// The exit code of the run.
  cli::ExitCode finish() {
    report_.result.is_ok = wrong_elements(report_.rows) == 0;
    report_.paths = processes_.gather(engine_->path());
    std::string last;
    for (std::size_t process = 0; process < report_.paths.size(); ++process) {
      if (report_.paths[process] == last) continue;
      last = report_.paths[process];
      const std::string from = cli::format(" from rank %d on", static_cast<int>(process) * options_.gpus);
      output_.print("# Path" + (process == 0 ? "" : from) + ": " + last + "\n");
    }
    output_.print(report_.doctor.text());
    output_.print(foot_text(collective_.name, report_.rows));
    watchdog_.begin("end of " + options_.engine);
    engine_->end();
    engine_.reset();
    gpus_.clear();
    cli::ExitCode code = report_.result.is_ok ? cli::ExitCode::ok : cli::ExitCode::failed;
    processes_.check_in_first([&] {
      report_.result.series = all_series_of(report_);
      write_report_json(options_.json, report_);
      code = output_.finish(report_.result);
    });
    processes_.end();
    watchdog_.end();
    return code;
  }

  const Options& options_;
  const engines::Collective& collective_;
  job::ProcessGroup processes_;
  int n_ranks_;
  job::Watchdog watchdog_;
  report::RunOutput output_;
  std::vector<RankGpu> gpus_;
  std::unique_ptr<engines::CollectiveEngine> engine_;
  Report report_;
};

}  // namespace

cli::ExitCode run_nccl(cli::Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  check(options);
  return Run(options).measure();
}

}  // namespace gdrkit::transfer::nccl
