// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// copylat: latency of copies through the drop-in library's mapping, compared with the driver's copies and raw loops.
#include "measure/copylat/copylat.hpp"

#include <algorithm>
#include <cstdio>

#include "measure/copylat/printer.hpp"
#include "measure/tool_parts/buffer_options.hpp"
#include "measure/tool_parts/tool_run.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

constexpr int most_batch_us = 10'000'000;

cli::CommandLine command_line(CopylatOptions* options) {
  cli::CommandLine line;
  line.name = "copylat";
  line.summary = "Measures the latency of copies through a mapping of device memory, by size, with one CPU thread.";
  line.example = "gdrkit copylat --raw --json > latency.json";
  line.options = {
      {'c', "with-cumemcpy", "", &options->with_driver_copies, "also measure cuMemcpy"},
      {'s', "size", "SIZE", &options->size_bytes, "largest copy"},
      {'w', "write-iterations", "N", &options->write_iterations, "copies to the device per size"},
      {'r', "read-iterations", "N", &options->read_iterations, "copies from the device per size"},
      allocation_option(&options->allocation),
      mapping_type_option(&options->mapping_type),
      {'C', "cold-cache", "", &options->is_cold, "flush CPU caches before each copy (cached mappings only)"},
      {'\0', "raw", "", &options->with_raw, "compare with raw loops instead of printing the tables", false},
      {'\0', "raw-kind", "KIND", cli::Choice{{"widest", "avx512", "avx2", "sse41", "gdrcopy"}, &options->raw_kind, ""},
       "instructions of the raw loops; gdrcopy: GDRCopy's sequence", false},
      {'\0', "rounds", "N", &options->raw_rounds, "interleaved rounds of --raw", false},
      {'\0', "batch-us", "US", &options->raw_batch_us, "microseconds of one batch of --raw", false},
      {'\0', "pin-cost", "", &options->with_pin_cost, "measure pin, map, unmap and unpin instead of copies", false},
      {'\0', "pin-size", "SIZE", &options->pin_size_bytes, "size of the buffer for --pin-cost", false},
      {'\0', "pin-repeats", "N", &options->pin_repeats, "repeats of --pin-cost", false},
  };
  cli::add_common_options(&line, &options->common);
  cli::add_numa_options(&line, &options->numa);
  return line;
}

void check(const CopylatOptions& options) {
  if (options.size_bytes == 0) cli::reject("ERROR: -s, --size: cannot copy 0 bytes; use a larger size");
  const CopylatOptions unchanged;
  if (!options.with_raw && (options.raw_kind != unchanged.raw_kind || options.raw_rounds != unchanged.raw_rounds ||
                            options.raw_batch_us != unchanged.raw_batch_us)) {
    cli::reject("ERROR: cannot use --raw-kind, --rounds or --batch-us without --raw");
  }
  if (!options.with_pin_cost &&
      (options.pin_size_bytes != unchanged.pin_size_bytes || options.pin_repeats != unchanged.pin_repeats)) {
    cli::reject("ERROR: cannot use --pin-size or --pin-repeats without --pin-cost");
  }
  if (options.pin_size_bytes == 0) cli::reject("ERROR: --pin-size: cannot pin 0 bytes; use a size of at least 1");
  check_count("-w, --write-iterations", options.write_iterations, 1, most_iterations);
  check_count("-r, --read-iterations", options.read_iterations, 1, most_iterations);
  check_count("--rounds", options.raw_rounds, 1, most_rounds);
  check_count("--batch-us", options.raw_batch_us, 1, most_batch_us);
  check_count("--pin-repeats", options.pin_repeats, 1, most_kept);
}

/// Raises the count to fill the buckets equally, and prints a warning like GDRCopy.
int iterations_for(const char* what, int requested) {
  const int raised = whole_buckets(requested);
  if (raised != requested) {
    std::fprintf(stderr, "WARNING: number of %s iterations %d is not a multiple of %d. Raised to %d.\n", what,
                 requested, most_buckets, raised);
  }
  return raised;
}

measure::RawKind find_raw_kind(const std::string& name) {
  measure::RawKind kind{};
  if (name == "widest") {
    if (!measure::widest_raw_kind(&kind))
      cli::cannot_run("cannot run --raw: this CPU supports none of SSE4.1, AVX2 and AVX-512");
    return kind;
  }
  for (const auto candidate :
       {measure::RawKind::avx512, measure::RawKind::avx2, measure::RawKind::sse41, measure::RawKind::gdrcopy}) {
    if (name == measure::raw_kind_name(candidate) && measure::raw_runs_here(candidate)) return candidate;
  }
  cli::cannot_run("cannot run --raw: this CPU does not support the raw loop '" + name + "'; use --raw-kind widest");
}

constexpr std::size_t sweep_sizes[] = {64, 4096, 65536};

/// A run with validated options: opens, measures, calls the printer, closes.
class Copylat {
 public:
  Copylat(cli::Front front, const CopylatOptions& options)
      : run_(front, options.common, options.numa), options_(options) {
    if (run_.is_sweep()) check_sweep();
    if (options.common.json.is_on_stdout()) {
      printer_ = std::make_unique<CopylatPrinter>();
    } else {
      printer_ = front == cli::Front::gdrcopy ? make_gdrcopy_printer(options) : make_table_printer(options);
    }
  }

  cli::ExitCode run() {
    device_ = run_.open(&report_);
    report_.cpu = run_.placed().place.cpu;
    report_.place_line = run_.is_gdrcopy() ? "" : run_.placed().line();
    if (!options_.with_pin_cost || options_.with_raw) run_on_buffer();
    if (options_.with_pin_cost) run_pin_cost();
    if (options_.common.json.is_given) write_copylat_json(options_, report_);
    // The emulated device's rows are noise of a shared machine. They are printed, but do not make the run fail.
    return report_.raw_rows_over_limit() == 0 || report_.is_emulated ? cli::ExitCode::ok : cli::ExitCode::failed;
  }

 private:
  void check_sweep() const {
    if (options_.with_raw || options_.with_pin_cost || options_.with_driver_copies) {
      cli::reject("--numa all measures only copies through the mapping; omit --raw, --pin-cost and --with-cumemcpy");
    }
    if (options_.size_bytes < sweep_sizes[0]) {
      cli::reject(cli::format("cannot run --numa all: the size is too small; use --size %zu or more", sweep_sizes[0]));
    }
  }

  void run_on_buffer() {
    AlignedAllocation memory(device_.get(), allocation_kind(options_.allocation), options_.size_bytes);
    const HostBuffer host(options_.size_bytes);
    printer_->before_driver_tables(*device_, memory);
    if (run_.is_sweep()) return run_sweep(&memory);
    const int writes = options_.with_raw ? 0 : iterations_for("write", options_.write_iterations);
    const int reads = options_.with_raw ? 0 : iterations_for("read", options_.read_iterations);
    if (options_.with_driver_copies && !options_.with_raw) {
      measure_table({Direction::to_device, true, writes, {}}, [&](std::size_t size) {
        return measure_driver(device_.get(), memory.address(), host, Direction::to_device, size, writes);
      });
      measure_table({Direction::from_device, true, reads, {}}, [&](std::size_t size) {
        return measure_driver(device_.get(), memory.address(), host, Direction::from_device, size, reads);
      });
    }
    MappedBuffer buffer(memory, mapping_flag(options_.mapping_type));
    report_.mapping_type = buffer.mapping_type();
    if (options_.is_cold && buffer.info().mapping_type != GDR_MAPPING_TYPE_CACHING) {
      cli::reject("ERROR: -C affects only cached mappings; omit -C, or use -M cache");
    }
    if (options_.with_raw) {
      run_raw(buffer, memory);
    } else {
      run_tables(buffer, host, writes, reads);
    }
    close(&buffer);
    memory.free();
  }

  void run_tables(const MappedBuffer& buffer, const HostBuffer& host, int writes, int reads) {
    printer_->before_mapping_tables(buffer, report_);
    measure_table({Direction::to_device, false, writes, {}}, [&](std::size_t size) {
      return measure_mapping(buffer, host, Direction::to_device, size, writes, options_.is_cold);
    });
    measure_table({Direction::from_device, false, reads, {}}, [&](std::size_t size) {
      return measure_mapping(buffer, host, Direction::from_device, size, reads, options_.is_cold);
    });
  }

  template <class Measure>
  void measure_table(LatencyTable table, Measure&& measure) {
    printer_->table_begins(table);
    for (std::size_t size = 1; size <= options_.size_bytes; size *= 2) {
      table.rows.push_back(measure(size));
      printer_->row(table, table.rows.back());
    }
    printer_->table_ends(table);
    report_.tables.push_back(std::move(table));
  }

  /// --numa all: some sizes on every pair of nodes.
  void run_sweep(AlignedAllocation* memory) {
    MappedBuffer buffer(*memory, mapping_flag(options_.mapping_type));
    report_.mapping_type = buffer.mapping_type();
    std::vector<NumaQuantity> quantities;
    for (const std::size_t size : sweep_sizes) {
      if (size > options_.size_bytes) continue;
      quantities.push_back({cli::format("to device, %zu bytes", size), "to_device", size, "us", true,
                            static_cast<std::size_t>(whole_buckets(options_.write_iterations))});
      quantities.push_back({cli::format("from device, %zu bytes", size), "from_device", size, "us", true,
                            static_cast<std::size_t>(whole_buckets(options_.read_iterations))});
    }
    printer_->before_mapping_tables(buffer, report_);
    report_.sweep = run_.sweep(quantities, [&] {
      const HostBuffer host(options_.size_bytes);
      std::vector<double> values;
      for (const NumaQuantity& quantity : quantities) {
        const Direction direction = quantity.direction == "to_device" ? Direction::to_device : Direction::from_device;
        values.push_back(measure_mapping(buffer, host, direction, quantity.size_bytes,
                                         static_cast<int>(quantity.operations_per_round), options_.is_cold)
                             .median_us);
      }
      return values;
    });
    close(&buffer);
    memory->free();
  }

  void run_raw(const MappedBuffer& buffer, const AlignedAllocation& memory) {
    RawRequest request;
    request.kind = find_raw_kind(options_.raw_kind);
    request.largest_bytes = options_.size_bytes;
    request.rounds = options_.raw_rounds;
    request.batch_ns = options_.raw_batch_us * 1000.0;
    report_.raw_kind = measure::raw_kind_name(request.kind);
    printer_->raw_begins(report_);
    report_.raw = compare_with_raw(device_.get(), buffer, memory.address(), request,
                                   [&](const RawRow& row) { printer_->raw_row(row); });
    printer_->raw_ends(report_);
  }

  void run_pin_cost() {
    for (const PinContent content : {PinContent::varied, PinContent::zeros}) {
      report_.pin_costs.push_back(measure_pin_cost(device_.get(), allocation_kind(options_.allocation),
                                                   mapping_flag(options_.mapping_type), content,
                                                   options_.pin_size_bytes, options_.pin_repeats));
      printer_->pin_cost(report_.pin_costs.back());
    }
  }

  void close(MappedBuffer* buffer) {
    printer_->step("unmapping buffer");
    buffer->unmap();
    printer_->step("unpinning buffer");
    buffer->unpin();
    printer_->step("closing gdrdrv");
    buffer->close();
  }

  ToolRun run_;
  const CopylatOptions& options_;
  std::unique_ptr<CopylatPrinter> printer_;
  std::unique_ptr<platform::Device> device_;
  CopylatReport report_;
};

}  // namespace

std::size_t CopylatReport::raw_rows_over_limit() const {
  return static_cast<std::size_t>(std::ranges::count_if(raw, [](const RawRow& row) { return !row.is_within_limit(); }));
}

cli::ExitCode run_copylat(cli::Front front, int argc, char** argv) {
  CopylatOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  check(options);
  return Copylat(front, options).run();
}

}  // namespace gdrkit::measure::copylat
