// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// apiperf: the cost of pin, map, get_info, unmap and unpin, by size, through the drop-in library.
#include "measure/apiperf/apiperf.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <numeric>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/buffer_options.hpp"
#include "measure/tool_parts/histogram.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "measure/tool_parts/tool_run.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::apiperf {
namespace {

cli::CommandLine command_line(ApiperfOptions* options) {
  cli::CommandLine line;
  line.name = "apiperf";
  line.summary = "Measures the cost of pin, map, get_info, unmap and unpin, by size, with one CPU thread.";
  line.example = "gdrkit apiperf --size 64M --iterations 1000 --json > apiperf.json";
  line.options = {
      {'s', "size", "SIZE", &options->size_bytes, "largest size; all powers of two from 64K are measured"},
      {'n', "iterations", "N", &options->iterations, "calls of each kind per size"},
      {'w', "warm-up", "N", &options->warm_up, "warm-up calls, not counted"},
      allocation_option(&options->allocation),
      mapping_type_option(&options->mapping_type),
  };
  cli::add_common_options(&line, &options->common);
  cli::add_numa_options(&line, &options->numa);
  return line;
}

void check(const ApiperfOptions& options) {
  if (options.size_bytes == 0) cli::reject("ERROR: -s, --size: cannot pin 0 bytes; use a size of at least 1");
  check_count("-n, --iterations", options.iterations, 1, most_kept);
  check_count("-w, --warm-up", options.warm_up, 0, most_kept);
}

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::string percentile_text(const std::vector<double>& us, double percent, std::size_t beyond_permille) {
  if (!measure::has_percentile(us.size(), beyond_permille)) return "-";
  return cli::format("%.3f", percentile(us, percent));
}

struct CallRequest {
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
  gdr_map_flags_t mapping_type = GDR_MAP_FLAG_DEFAULT;
  std::size_t warm_up = 0;  ///< pins before the counted ones
  std::size_t count = 0;
};

/// Pins, maps, gets the info, unmaps and unpins, repeatedly. Throws Failure with the call that failed; closing
/// `context` unpins what it left pinned.
CallCost measure_calls(gdr_t context, const CallRequest& request, const Clock& clock) {
  CallCost cost;
  cost.size_bytes = request.size_bytes;
  for (auto& times : cost.us) times.reserve(request.count);
  for (std::size_t life = 0; life < request.warm_up + request.count; ++life) {
    const auto timed = [&](Call call, auto&& make) {
      const std::uint64_t begin = clock.now();
      const int result = make();
      const std::uint64_t end = clock.now();
      GDRKIT_TOOL_ASSERT(result == 0, cli::format("%s of %zu bytes: %s", call_name(call), request.size_bytes,
                                                  errno_text(result).c_str()));
      if (life >= request.warm_up) cost.us[static_cast<std::size_t>(call)].push_back(clock.ns(end - begin) / 1000);
    };
    gdr_mh_t handle{};
    void* mapping = nullptr;
    gdr_info_t info{};
    timed(Call::pin, [&] { return gdr_pin_buffer(context, request.address, request.size_bytes, 0, 0, &handle); });
    timed(Call::map, [&] { return gdr_map_v2(context, handle, &mapping, request.size_bytes, request.mapping_type); });
    timed(Call::get_info, [&] { return gdr_get_info(context, handle, &info); });
    timed(Call::unmap, [&] { return gdr_unmap(context, handle, mapping, request.size_bytes); });
    timed(Call::unpin, [&] { return gdr_unpin_buffer(context, handle); });
  }
  return cost;
}

/// GDRCopy's lines for one size.
void print_gdrcopy_cost(const CallCost& cost) {
  constexpr std::size_t bins = 10;
  std::printf("Size(B)\tpin.Time(us)\tmap.Time(us)\tget_info.Time(us)\tunmap.Time(us)\tunpin.Time(us)\n");
  std::printf("%zu", cost.size_bytes);
  for (const Call call : calls) std::printf("\t%f", mean(cost.of(call)));
  std::printf("\nHistogram of gdr_pin_buffer latency for %zu bytes\n", cost.size_bytes);
  const std::vector<double>& pins = cost.of(Call::pin);
  for (const HistogramBin& bin : make_histogram(pins, measure::minimum(pins), *std::ranges::max_element(pins), bins)) {
    std::printf("[%f\t-\t%f]\t%zu\n", bin.from, bin.to, bin.count);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_cost_head() {
  std::printf("%12s %-9s %11s %11s %11s %11s %11s %11s\n", "bytes", "call", "median, us", "min", "p99", "p99.9", "max",
              "mean");
}

/// A row for each call.
void print_cost_rows(const CallCost& cost) {
  for (const Call call : calls) {
    const std::vector<double>& us = cost.of(call);
    std::printf("%12zu %-9s %11.3f %11.3f %11s %11s %11.3f %11.3f\n", cost.size_bytes, call_name(call), median(us),
                measure::minimum(us), percentile_text(us, 99, measure::beyond_p99).c_str(),
                percentile_text(us, 99.9, measure::beyond_p999).c_str(), *std::ranges::max_element(us), mean(us));
  }
  std::fflush(stdout);
}

class Apiperf {
 public:
  Apiperf(cli::Front front, const ApiperfOptions& options)
      : run_(front, options.common, options.numa), options_(options) {}

  cli::ExitCode run() {
    device_ = run_.open(&report_);
    const Clock clock;
    report_.clock = describe(clock);
    report_.noise = observe_machine_noise(clock, 20);
    AlignedAllocation memory(device_.get(), allocation_kind(options_.allocation), options_.size_bytes);
    print_head(memory);
    DropIn library = open_drop_in();
    if (run_.is_sweep()) {
      run_sweep(library.get(), memory, clock);
    } else {
      run_sizes(library.get(), memory, clock);
    }
    if (run_.prints_gdrcopy()) std::printf("closing gdrdrv\n");
    const int result = gdr_close(library.release());
    GDRKIT_TOOL_ASSERT(result == 0, "gdr_close: " + errno_text(result));
    memory.free();
    if (options_.common.json.is_given) write_apiperf_json(options_, report_);
    return cli::ExitCode::ok;
  }

 private:
  void print_head(const AlignedAllocation& memory) const {
    if (run_.prints_gdrcopy()) {
      cli::print_banner(*device_);
      std::printf("device ptr: 0x%" PRIx64 "\nallocated size: %zu\n", memory.address(), memory.rounded_bytes());
    }
    if (!run_.prints_own()) return;
    if (!options_.common.quiet) {
      const std::string head =
          cli::format("%s %s, backend %s\n", report_.machine.gpu_name.c_str(), report_.machine.gpu_pci_address.c_str(),
                      report_.names.backend.c_str()) +
          cli::format("%d calls of each kind per size; %s, whose overhead of %.1f ns is included", options_.iterations,
                      report_.clock->name.c_str(), report_.clock->overhead_ns);
      std::printf("%s\n", cli::fitted(head, 2).c_str());
      run_.print_place();
    }
    if (!run_.is_sweep()) print_cost_head();
  }

  [[nodiscard]] CallRequest request_for(const AlignedAllocation& memory, std::size_t size_bytes) const {
    return {memory.address(), size_bytes, mapping_flag(options_.mapping_type),
            static_cast<std::size_t>(options_.warm_up), static_cast<std::size_t>(options_.iterations)};
  }

  void run_sizes(gdr_t context, const AlignedAllocation& memory, const Clock& clock) {
    for (std::size_t size = GPU_PAGE_SIZE; size <= memory.rounded_bytes(); size *= 2) {
      report_.costs.push_back(measure_calls(context, request_for(memory, size), clock));
      if (run_.prints_gdrcopy()) print_gdrcopy_cost(report_.costs.back());
      if (run_.prints_own()) print_cost_rows(report_.costs.back());
    }
    if (!run_.prints_own() || options_.common.quiet) return;
    std::printf("\npin of %zu bytes\n", report_.costs.back().size_bytes);
    print_histogram(report_.costs.back().of(Call::pin), "us");
    if (!report_.noise->is_quiet()) {
      std::printf("other processes took %.1f %% of this CPU, so p99 and above measure the machine\n",
                  report_.noise->lost_share * 100);
    }
  }

  /// --numa all: only the largest size.
  void run_sweep(gdr_t context, const AlignedAllocation& memory, const Clock& clock) {
    const CallRequest request = request_for(memory, memory.rounded_bytes());
    std::vector<NumaQuantity> quantities;
    for (const Call call : calls) {
      quantities.push_back({cli::format("%s, %zu bytes", call_name(call), request.size_bytes), "", request.size_bytes,
                            "us", true, request.count});
    }
    report_.sweep = run_.sweep(quantities, [&] {
      const CallCost cost = measure_calls(context, request, clock);
      std::vector<double> medians;
      for (const Call call : calls) medians.push_back(median(cost.of(call)));
      return medians;
    });
  }

  ToolRun run_;
  const ApiperfOptions& options_;
  std::unique_ptr<platform::Device> device_;
  ApiperfReport report_;
};

}  // namespace

cli::ExitCode run_apiperf(cli::Front front, int argc, char** argv) {
  ApiperfOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  check(options);
  return Apiperf(front, options).run();
}

const char* call_name(Call call) {
  switch (call) {
    case Call::pin: return "pin";
    case Call::map: return "map";
    case Call::get_info: return "get_info";
    case Call::unmap: return "unmap";
    case Call::unpin: return "unpin";
  }
  return "";
}

}  // namespace gdrkit::measure::apiperf
