// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// pplat: the round-trip time between a CPU thread and a GPU kernel through a mapping of device memory.
#include "measure/pplat/pplat.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/buffer_options.hpp"
#include "measure/tool_parts/tool_run.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::pplat {
namespace {

constexpr int iterations_unit = 100;    // GDRCopy measures in hundreds
constexpr double own_budget_ns = 10e9;  // of our front end: GDRCopy's tool always completes all iterations
constexpr std::size_t most_data = std::size_t{1} << 30;
constexpr std::uint64_t without_timeout_s = 3600;  // -u 0: the longest wait, which bounds the run time of a GPU kernel
constexpr int most_round_trips = 100'000'000;
constexpr int most_timeout_s = 86400;
constexpr int most_blocks = 65535;
constexpr std::size_t flag_bytes = sizeof(std::uint32_t);

cli::CommandLine command_line(PplatOptions* options) {
  cli::CommandLine line;
  line.name = "pplat";
  line.summary =
      "Measures the ping-pong latency between a CPU thread and a GPU kernel, through a mapping of device memory.";
  line.example = "gdrkit pplat --raw --json > pplat.json";
  const std::vector<std::string> places = {gpu_memory, host_memory};
  const char* complaint = "Unrecognized memory location '{}'. Valid options: gpumem, hostmem.";
  line.options = {
      {'t', "iterations", "N", &options->iterations, "round trips to measure"},
      {'u', "timeout", "SECONDS", &options->timeout_s, "limit of each wait (0: an hour)"},
      allocation_option(&options->allocation),
      {'s', "data-size", "SIZE", &options->data_bytes, "data written before each flag (0: only the flag)"},
      {'B', "blocks", "N", &options->blocks, "blocks of the GPU kernel if there is data"},
      {'T', "threads", "N", &options->threads, "threads per block if there is data"},
      {'m', "mode", "MODE",
       cli::Choice{{"0", "1"}, &options->mode, "Invalid benchmark mode '{}'. Valid options: 0, 1."},
       "0: the CPU writes the data, the GPU reads it; 1: reverse"},
      {'G', "gpu-flag", "PLACE", cli::Choice{places, &options->gpu_flag, complaint},
       "place of the flag that the GPU polls: gpumem or hostmem"},
      {'C', "cpu-flag", "PLACE", cli::Choice{places, &options->cpu_flag, complaint},
       "place of the flag that the CPU polls: gpumem or hostmem"},
      {'D', "data", "PLACE", cli::Choice{places, &options->data, complaint}, "place of the data: gpumem or hostmem"},
      mapping_type_option(&options->mapping_type),
      {'\0', "raw", "", &options->with_raw, "compare with raw stores; fail above 1.05 times on a GPU", false},
  };
  cli::add_common_options(&line, &options->common);
  cli::add_numa_options(&line, &options->numa);
  return line;
}

void check(const PplatOptions& options) {
  if (options.data_bytes % 4 != 0) cli::reject("ERROR: data_size must be divisible by 4.");
  if (options.data_bytes > most_data) {
    cli::reject(cli::format("ERROR: data_size must be at most %zu bytes", most_data));
  }
  check_count("-t, --iterations", options.iterations, 1, most_round_trips);
  check_count("-u, --timeout", options.timeout_s, 0, most_timeout_s);
  check_count("-B, --blocks", options.blocks, 1, most_blocks);
  check_count("-T, --threads", options.threads, 1, 1024);
}

MatchRequest request_of(const PplatOptions& options) {
  MatchRequest request;
  request.is_gpu_first = options.mode == "1";
  request.is_gpu_flag_in_host = options.gpu_flag == host_memory;
  request.is_cpu_flag_on_device = options.cpu_flag == gpu_memory;
  request.is_data_in_host = options.data == host_memory;
  request.data_bytes = options.data_bytes;
  request.shape = {static_cast<unsigned>(options.blocks), static_cast<unsigned>(options.threads)};
  if (options.data_bytes == 0) request.shape = {1, 1};
  const std::uint64_t seconds =
      options.timeout_s == 0 ? without_timeout_s : static_cast<std::uint64_t>(options.timeout_s);
  request.limit_ns = seconds * 1'000'000'000;
  return request;
}

int raise_iterations(int requested) {
  const int raised = (requested + iterations_unit - 1) / iterations_unit * iterations_unit;
  if (raised != requested) {
    std::fprintf(stderr, "WARNING: number of iterations %d is not a multiple of %d. Raised to %d.\n", requested,
                 iterations_unit, raised);
  }
  return raised;
}

class Pplat {
 public:
  Pplat(cli::Front front, const PplatOptions& options)
      : run_(front, options.common, options.numa), options_(options), request_(request_of(options)) {
    if (run_.is_sweep() && options.with_raw) {
      cli::reject("--numa all measures only round trips through the mapping; omit --raw");
    }
    if (options.with_raw && !request_.uses_mapping()) {
      cli::reject("cannot run --raw: the flags and the data are all in host memory; use -G gpumem or -C gpumem");
    }
  }

  cli::ExitCode run() {
    device_ = run_.open(&report_);
    auto loaded = platform::GpuKernels::load<platform::GpuKernel::ping_pong>(*device_);
    if (!loaded) cli::cannot_run(loaded.error().text());
    kernels_ = std::make_unique<platform::GpuKernels>(std::move(*loaded));
    if (request_.shape.blocks > kernels_->resident_blocks()) {
      cli::reject(cli::format("ERROR: cannot run %u blocks: this GPU runs only %u at once; use fewer blocks",
                              request_.shape.blocks, kernels_->resident_blocks()));
    }
    run_on_buffer();
    if (options_.common.json.is_given) write_pplat_json(options_, report_);
    return report_.is_within_limit() || report_.is_emulated ? cli::ExitCode::ok : cli::ExitCode::failed;
  }

 private:
  /// GDRCopy's program prints no percentiles, and reads the clock between batches only.
  [[nodiscard]] bool prints_singles() const { return !run_.prints_gdrcopy(); }

  void run_on_buffer() {
    if (run_.prints_gdrcopy()) print_gdrcopy_head();
    const Clock clock;
    report_.clock = describe(clock);
    report_.noise = observe_machine_noise(clock, 20);
    AlignedAllocation memory(device_.get(), allocation_kind(options_.allocation), request_.device_bytes());
    MappedBuffer buffer(memory, mapping_flag(options_.mapping_type));
    report_.mapping_type = buffer.mapping_type();
    if (run_.prints_own()) print_own_head();
    if (run_.is_sweep()) {
      run_sweep(memory, buffer, clock);
    } else {
      PingPongMatch match(device_.get(), kernels_.get(), memory, buffer, request_);
      std::vector<Way> ways = {Way::mapping};
      if (options_.with_raw) ways.push_back(Way::raw);
      PlayedRounds played = play_rounds(&match, ways, static_cast<std::size_t>(options_.iterations),
                                        run_.is_gdrcopy() ? 0 : own_budget_ns, prints_singles(), clock);
      report_.ways = std::move(played.ways);
      report_.is_cut_short = played.is_cut_short;
      if (run_.prints_own()) print_pplat_table(options_, report_);
    }
    if (run_.prints_gdrcopy()) print_gdrcopy_result();
    buffer.unmap();
    buffer.unpin();
    if (run_.prints_gdrcopy()) std::printf("closing gdrdrv\n");
    buffer.close();
    memory.free();
  }

  void run_sweep(const AlignedAllocation& memory, const MappedBuffer& buffer, const Clock& clock) {
    const auto iterations = static_cast<std::size_t>(std::max(options_.iterations / numa_rounds, 1));
    report_.sweep = run_.sweep(
        {{cli::format("round trip, %zu bytes", options_.data_bytes + flag_bytes), "", options_.data_bytes + flag_bytes,
          "us", true, iterations}},
        [&] {
          PingPongMatch match(device_.get(), kernels_.get(), memory, buffer, request_);
          return std::vector<double>{match.play(Way::mapping, match_warm_up, iterations, clock, nullptr) / 1000};
        });
  }

  void print_own_head() const {
    if (options_.common.quiet) return;
    const std::string head = cli::format("%s %s, backend %s, mapping type %s\n", report_.machine.gpu_name.c_str(),
                                         report_.machine.gpu_pci_address.c_str(), report_.names.backend.c_str(),
                                         report_.mapping_type.c_str()) +
                             describe_match(options_, request_);
    std::printf("%s\n", cli::fitted(head, 2).c_str());
    run_.print_place();
  }

  void print_gdrcopy_head() const {
    cli::print_banner(*device_);
    if (options_.data_bytes == 0) {
      std::printf("We will measure the visibility of the flag value only. Setting nblocks and nthreads to 1.\n");
    }
    std::printf("Benchmark mode: %s\n",
                request_.is_gpu_first ? "GPU produces and CPU consumes" : "CPU produces and GPU consumes");
    std::printf("gpu alloc fn: %s\n", options_.allocation.c_str());
    if (options_.data_bytes == 0) {
      std::printf(
          "Measuring the visibility latency of the flag value.\nRunning %d iterations with flag size %zu bytes.\n",
          options_.iterations, flag_bytes);
    } else {
      std::printf(
          "Measuring the latency of data + flag model.\nRunning %d iterations with data size %zu bytes and flag size "
          "%zu bytes.\n",
          options_.iterations, options_.data_bytes, flag_bytes);
    }
    std::printf("\n%s\n%s does the time measurement.\n\n", describe_match(options_, request_).c_str(),
                request_.is_gpu_first ? "GPU" : "CPU");
    std::fflush(stdout);
  }

  void print_gdrcopy_result() const {
    const Measured& mapping = report_.ways.front();
    // The GPU's clock returns one figure for all rounds of a launch.
    const double middle = median_ns(mapping) / 1000;
    const double least = measure::minimum(mapping.round_ns) / 1000;
    std::printf("Round-trip latency per iteration is (min) %g, (median) %g us\n", least, middle);
  }

  ToolRun run_;
  const PplatOptions& options_;
  MatchRequest request_;
  std::unique_ptr<platform::Device> device_;
  std::unique_ptr<platform::GpuKernels> kernels_;
  PplatReport report_;
};

}  // namespace

void print_gdrcopy_timeout(const NoReply& failure) {
  constexpr int success = 0;
  std::fflush(stdout);
  std::fprintf(stderr, "ERROR: TIMEOUT!!!\ncuStreamQuery(0) returned %s\n",
               platform::cuda_result_name(failure.is_gpu_kernel_there() ? platform::cuda_error_not_ready : success));
}

double median_ns(const Measured& measured) { return median(measured.round_ns); }

double PplatReport::ratio_to_raw() const { return ways.size() < 2 ? 0 : median_ns(ways[0]) / median_ns(ways[1]); }

cli::ExitCode run_pplat(cli::Front front, int argc, char** argv) {
  PplatOptions options;
  if (front == cli::Front::gdrcopy) options.iterations = 1000;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  check(options);
  if (front == cli::Front::gdrcopy) options.iterations = raise_iterations(options.iterations);
  try {
    return Pplat(front, options).run();
  } catch (const NoReply& failure) {
    if (front == cli::Front::gdrcopy) print_gdrcopy_timeout(failure);
    throw;
  }
}

PlayedRounds play_rounds(PingPongMatch* match, const std::vector<Way>& ways, std::size_t iterations, double budget_ns,
                         bool with_singles, const Clock& clock) {
  const std::size_t rounds = std::min(most_match_rounds, iterations);
  PlayedRounds played;
  for (const Way way : ways) {
    Measured& measured = played.ways.emplace_back();
    measured.name = way_name(way);
    measured.operations_per_round = iterations / rounds;
  }
  const std::int64_t begin = platform::now_ns();
  for (std::size_t round = 0; round < rounds; ++round) {
    // The remainder is played in the first rounds.
    const std::size_t count = iterations / rounds + (round < iterations % rounds ? 1 : 0);
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t way = (turn + round) % ways.size();
      Measured& measured = played.ways[way];
      measured.round_ns.push_back(
          match->play(ways[way], match_warm_up, count, clock, with_singles ? &measured.single_ns : nullptr));
    }
    const bool is_over = budget_ns > 0 && static_cast<double>(platform::now_ns() - begin) > budget_ns;
    if (is_over && round + 1 >= fewest_match_rounds) {
      played.is_cut_short = round + 1 < rounds;
      break;
    }
  }
  return played;
}

}  // namespace gdrkit::measure::pplat
