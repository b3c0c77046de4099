// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// bandwidth: bandwidth and latency of the buses between host and GPUs, and between GPUs; nvbandwidth's tests and
// options.
#include <cstdio>
#include <limits>

#include "cli/interface/common_options.hpp"
#include "measure/bandwidth/bandwidth_report.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t default_buffer_bytes = 512 * mib;
constexpr std::size_t emulated_buffer_bytes = mib;
/// Describes the figures of the emulated device. The rest of the first line warns that they do not describe hardware.
constexpr const char* about_figures =
    ". The values are those of copies within this machine's memory, without a GPU or a bus.";
constexpr std::size_t emulated_chase_steps = 20000;
constexpr std::size_t most_buffer_bytes = mib << 20;
constexpr int most_samples = 100'000;
constexpr int most_loops = 10'000;  // that are enqueued before the gate opens

cli::CommandLine command_line(BandwidthOptions* options) {
  cli::CommandLine line;
  line.name = "bandwidth";
  line.summary = "Measures bandwidth and latency between host and GPUs and between GPUs: the tests of nvbandwidth.";
  line.example = "gdrkit bandwidth -p host_to_device -p device_to_host";
  cli::Option tests{'t', "testcase", "TEST", &options->names, "run these tests, by name or index, in this order"};
  cli::Option prefixes{'p', "testcasePrefixes", "PREFIX", &options->prefixes,
                       "run the tests whose names begin with PREFIX"};
  tests.takes_several = prefixes.takes_several = true;
  cli::Option buffer_size{'b',
                          "bufferSize",
                          "SIZE",
                          &options->buffer_bytes,
                          "bytes of a copy, in MiB or with a unit (default: 512; 1 emulated)",
                          true,
                          false};
  buffer_size.plain_unit = mib;
  line.options = {
      buffer_size,
      {'l', "list", "", &options->lists, "list the tests"},
      tests,
      prefixes,
      {'v', "verbose", "", &options->is_verbose, "print samples, minimum, maximum and mean of each matrix"},
      {'s', "skipVerification", "", &options->skips_verification, "do not verify the copied data"},
      {'d', "disableAffinity", "", &options->numa.no_bind, "the same as --no-bind"},
      {'i', "testSamples", "N", &options->samples, "samples per value"},
      {'m', "useMean", "", &options->uses_mean, "print the mean of the samples instead of the median"},
      {'j', "nvbandwidth-json", "", &options->prints_nvbandwidth_json, "print JSON in nvbandwidth's format"},
      cli::json_option(&options->json, "docs/result-schema.md"),
      {'\0', "quiet", "", &options->is_quiet, "print only the results"},
      {'\0', "loopCount", "N", &options->loops, "copies per sample"},
  };
  cli::add_numa_options(&line, &options->numa);
  return line;
}

void check(const BandwidthOptions& options) {
  if (options.samples < 1 || options.samples > most_samples) {
    cli::reject(cli::format("gdrkit bandwidth: invalid --testSamples: use a number from 1 to %d", most_samples));
  }
  if (options.loops < 1 || options.loops > most_loops) {
    cli::reject(cli::format("gdrkit bandwidth: invalid --loopCount: use a number from 1 to %d", most_loops));
  }
  const bool has_size = options.buffer_bytes != BandwidthOptions::usual;
  const bool is_whole = options.buffer_bytes % mib == 0;
  if (has_size && (!is_whole || options.buffer_bytes < mib || options.buffer_bytes > most_buffer_bytes)) {
    cli::reject(
        "gdrkit bandwidth: invalid --bufferSize: use a whole number of MiB from 1 to 1048576, for example 64 or 1G");
  }
  if (options.json.is_on_stdout() && options.prints_nvbandwidth_json) {
    cli::reject(
        "gdrkit bandwidth: the two options --json and -j (nvbandwidth's JSON) cannot both write to standard output; "
        "use --json=FILE");
  }
}

std::string device_text(const platform::DeviceIdentity& identity) {
  return cli::format("%s (%08x:%02x:%02x)", identity.name, identity.pci_domain, identity.pci_bus, identity.pci_device);
}

/// --numa all measures plain copies between host and GPU: the given tests, or those by copy engine.
std::vector<const TestCase*> sweepable(const std::vector<const TestCase*>& selected, const BandwidthOptions& options) {
  const bool is_chosen = !options.names.empty() || !options.prefixes.empty();
  std::vector<const TestCase*> tests;
  for (const TestCase* test : selected) {
    const bool is_plain = test->family == Family::host && !test->is_bidirectional;
    if (is_plain && (is_chosen || test->mover == Mover::copy_engine)) {
      tests.push_back(test);
    } else if (is_chosen) {
      cli::reject(std::string("cannot measure ") + test->name +
                  " with --numa all: only one-way copies between host and GPU are supported; omit --numa");
    }
  }
  return tests;
}

/// Each test on each pair of nodes, on the first GPU.
NumaSweep sweep(const std::vector<const TestCase*>& tests, Gpus* gpus, const RunOptions& run_options) {
  std::vector<NumaQuantity> quantities;
  for (const TestCase* test : tests) {
    quantities.push_back({std::string(test->name) + ", GPU 0", test->flow == Flow::forth ? "to_device" : "from_device",
                          run_options.buffer_bytes, "GB/s", false, static_cast<std::size_t>(run_options.loops),
                          test->name, test->mover == Mover::copy_engine ? "copy_engine" : "gpu_kernel"});
    if (test->mover == Mover::gpu_kernel && !gpus->why_no_kernels().empty()) {
      cli::cannot_run(gpus->why_no_kernels());
    }
  }
  platform::Placement placement = cli::placement_for(gpus->current(0));
  return sweep_nodes(&placement, quantities, [&] {
    // New buffers for each pair, because host memory is allocated on the node that the thread is bound to.
    BufferPool pool(gpus);
    Pattern pattern(gpus, &pool);
    CellRun run(gpus, &pool, &pattern, run_options);
    std::vector<double> values;
    for (const TestCase* test : tests) {
      const CellValues measured = run.run(*test, plan_all_cells(*test, 1).front());
      values.push_back(measure::make_point(0, measured.samples.front(), 1).value);
    }
    return values;
  });
}

class Bandwidth {
 public:
  Bandwidth(const BandwidthOptions& options, std::vector<const TestCase*> tests, const cli::NumaChoice& nodes)
      : options_(options), tests_(std::move(tests)), nodes_(nodes) {}

  cli::ExitCode run() {
    cli::DeviceChoice choice = cli::choose_device(cli::find_gpus());
    if (choice.is_emulated) choice.note += about_figures;
    cli::print_note(choice, is_json_on_stdout());
    report_.is_emulated = choice.is_emulated;
    report_.note = choice.note;
    // A sweep binds the thread itself.
    const bool is_sweep = nodes_.kind == cli::NumaChoice::Kind::all;
    Gpus gpus(choice, is_sweep ? cli::NumaChoice{cli::NumaChoice::Kind::keep, {}} : nodes_);
    describe(&gpus, is_sweep);
    RunOptions run_options;
    run_options.buffer_bytes = report_.buffer_bytes;
    run_options.samples = options_.samples;
    run_options.loops = options_.loops;
    run_options.is_verified = !options_.skips_verification;
    if (choice.is_emulated) run_options.chase_steps = emulated_chase_steps;
    if (!is_json_on_stdout() && !options_.is_quiet) print_head(report_, options_);
    if (is_sweep) {
      report_.sweep = sweep(tests_, &gpus, run_options);
      if (!is_json_on_stdout()) print_sweep(*report_.sweep, gpus[0].placement.gpu_node());
    } else {
      run_tests(&gpus, run_options);
    }
    if (options_.json.is_given) write_bandwidth_json(report_, options_);
    if (options_.prints_nvbandwidth_json) print_nvbandwidth_json(report_, options_);
    if (report_.has(Status::error)) return cli::ExitCode::failed;
    return is_sweep || report_.has(Status::passed) ? cli::ExitCode::ok : cli::ExitCode::cannot_run;
  }

 private:
  [[nodiscard]] bool is_json_on_stdout() const {
    return options_.json.is_on_stdout() || options_.prints_nvbandwidth_json;
  }

  void describe(Gpus* gpus, bool is_sweep) {
    const std::size_t fallback = report_.is_emulated ? emulated_buffer_bytes : default_buffer_bytes;
    report_.buffer_bytes = options_.buffer_bytes == BandwidthOptions::usual ? fallback : options_.buffer_bytes;
    report_.machine = platform::describe_machine(&gpus->current(0));
    for (int number = 0; number < gpus->count(); ++number) {
      report_.devices.push_back(device_text((*gpus)[number].device->identity()));
    }
    if (is_sweep) {
      report_.placed.place.gpu_node = (*gpus)[0].placement.gpu_node();
    } else {
      report_.placed = gpus->settle_near(0);
    }
  }

  void run_tests(Gpus* gpus, const RunOptions& run_options) {
    BufferPool pool(gpus);
    Pattern pattern(gpus, &pool);
    CellRun run(gpus, &pool, &pattern, run_options);
    for (const TestCase* test : tests_) {
      if (!is_json_on_stdout()) print_test_begin(*test);
      report_.tests.push_back(run_test(*test, gpus, &run, options_));
      if (!is_json_on_stdout()) print_test_end(report_.tests.back(), options_);
    }
  }

  const BandwidthOptions& options_;
  std::vector<const TestCase*> tests_;
  cli::NumaChoice nodes_;
  Report report_;
};

}  // namespace

cli::ExitCode run_bandwidth(cli::Front front, int argc, char** argv) {
  BandwidthOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  if (options.lists) {
    print_list();
    return cli::ExitCode::ok;
  }
  check(options);
  std::vector<const TestCase*> tests = select_tests(options.names, options.prefixes);
  const cli::NumaChoice nodes = cli::choose_nodes(options.numa);
  if (nodes.kind == cli::NumaChoice::Kind::all) tests = sweepable(tests, options);
  return Bandwidth(options, std::move(tests), nodes).run();
}

}  // namespace gdrkit::measure::bandwidth
