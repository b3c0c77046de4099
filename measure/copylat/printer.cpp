// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Our own text output of copylat, and GDRCopy's lines for scripts that parse them.
#include "measure/copylat/printer.hpp"

#include <cinttypes>
#include <cstdio>

#include "cli/interface/wrapped_text.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/rate.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copylat {
namespace {

class TablePrinter final : public CopylatPrinter {
 public:
  explicit TablePrinter(const CopylatOptions& options) : options_(options) {}

  void before_mapping_tables(const MappedBuffer&, const CopylatReport& report) override { print_head(report); }

  void table_begins(const LatencyTable& table) override {
    const bool is_to_device = table.direction == Direction::to_device;
    std::printf("\n%s, %d copies per size\n",
                table.is_driver
                    ? (is_to_device ? "cuMemcpy to the device" : "cuMemcpy from the device")
                    : (is_to_device ? "through the mapping to the device" : "through the mapping from the device"),
                table.iterations);
    std::printf("%12s %14s %14s %10s\n", "bytes", "median, us", "minimum, us", "GB/s");
  }

  void row(const LatencyTable&, const LatencyRow& row) override {
    std::printf("%12zu %14.4f %14.4f %10s\n", row.size_bytes, row.median_us, row.minimum_us,
                rate_text(row.size_bytes, row.median_us * 1000).c_str());
    std::fflush(stdout);
  }

  void raw_begins(const CopylatReport& report) override {
    print_head(report);
    const std::string title = cli::format(
        "compared with raw loops (%s): medians of %d interleaved rounds, batches of about %d us or one copy",
        report.raw_kind.c_str(), options_.raw_rounds, options_.raw_batch_us);
    std::printf("\n%s\n", cli::fitted(title, 2).c_str());
    std::printf(
        "small copies from the device read another cache line each time; limit: max(1.05 * raw, raw + 10 ns)\n"
        "single: ratio of copies that are timed one by one\n");
    if (report.raw_kind == measure::raw_kind_name(RawKind::gdrcopy)) {
      std::printf("from the device, the limit applies to single copies: GDRCopy's reads overlap in loops\n");
    }
    std::printf("%-12s %10s %13s %13s %7s %7s %14s %8s  %s\n", "direction", "bytes", "library, us", "raw, us", "ratio",
                "single", "difference, ns", "GB/s", "result");
  }

  void raw_row(const RawRow& row) override {
    std::printf("%-12s %10zu %13.4f %13.4f %7.3f %7.3f %14.1f %8s  %s\n", direction_name(row.direction), row.size_bytes,
                row.library_median_ns / 1000, row.raw_median_ns / 1000, row.ratio(), row.single_ratio(),
                row.difference_ns(), rate_text(row.size_bytes, row.library_median_ns).c_str(),
                row.is_within_limit() ? "ok" : "OVER THE LIMIT");
    std::fflush(stdout);
  }

  void raw_ends(const CopylatReport& report) override {
    const std::size_t over = report.raw_rows_over_limit();
    std::printf("%zu of %zu sizes within the limit%s\n", report.raw.size() - over, report.raw.size(),
                report.is_emulated ? " (emulated device: does not describe hardware)" : "");
  }

  void pin_cost(const PinCost& cost) override {
    std::printf("\n%zu bytes of %s, %zu repeats, including the verification of the mapping\n", cost.size_bytes,
                cost.content == PinContent::varied ? "varied content" : "zeros", cost.pin_us.size());
    std::printf("%-12s %14s %14s %14s\n", "call", "median, us", "minimum, us", "99 %, us");
    print_figures("pin", cost.pin_us);
    print_figures("map", cost.map_us);
    print_figures("pin + map", cost.pin_and_map_us);
    print_figures("unmap", cost.unmap_us);
    print_figures("unpin", cost.unpin_us);
  }

 private:
  static void print_figures(const char* name, const std::vector<double>& values_us) {
    std::printf("%-12s %14.2f %14.2f %14.2f\n", name, median(values_us), minimum(values_us), percentile(values_us, 99));
  }

  void print_head(const CopylatReport& report) {
    if (options_.common.quiet || has_head_) return;
    has_head_ = true;
    const platform::Machine& machine = report.machine;
    const std::string head =
        cli::format("%s %s, %s\n%s, system %s\n", machine.gpu_name.c_str(), machine.gpu_pci_address.c_str(),
                    machine.driver_version.c_str(), machine.cpu_model.c_str(), machine.os_release.c_str()) +
        cli::format("backend %s, mapping type %s, copy kernels %s (to device) and %s (from device)\n%s",
                    report.names.backend.c_str(), report.mapping_type.c_str(), report.names.store_kernel.c_str(),
                    report.names.load_kernel.c_str(), platform::timer_name);
    std::printf("%s\n", cli::fitted(head, 2).c_str());
    if (options_.numa.numa == "all") return;
    std::printf("%s\n", cli::fitted(report.place_line, 2).c_str());
    if (!report.place->advice.empty()) std::printf("%s\n", cli::fitted("ADVICE: " + report.place->advice, 2).c_str());
  }

  const CopylatOptions& options_;
  bool has_head_ = false;
};

class GdrcopyPrinter final : public CopylatPrinter {
 public:
  explicit GdrcopyPrinter(const CopylatOptions& options) : options_(options) {}

  void before_driver_tables(const platform::Device& device, const AlignedAllocation& memory) override {
    cli::print_banner(device);
    std::printf("device ptr: 0x%" PRIx64 "\n", memory.address());
    std::printf("allocated size: %zu\n", memory.rounded_bytes());
    std::printf("gpu alloc fn: %s\n", options_.allocation.c_str());
  }

  void before_mapping_tables(const MappedBuffer& buffer, const CopylatReport&) override {
    std::printf("\nmap_d_ptr: %p\n", buffer.mapping());
    cli::print_info_lines(buffer.info());
    std::printf("page offset: %zu\n", buffer.page_offset());
    std::printf("user-space pointer: %p\n", static_cast<void*>(buffer.user_pointer()));
    std::printf("use cold cache: %s\n", options_.is_cold ? "yes" : "no");
  }

  void table_begins(const LatencyTable& table) override {
    std::printf("\n%s num iters for each size: %d\n", name(table), table.iterations);
    if (!table.is_driver && table.direction == Direction::to_device) {
      std::printf(
          "WARNING: Measuring the API invocation overhead as observed by the CPU. "
          "What was written need not have reached GPU internal visibility.\n");
    }
    std::printf("Test \t\t%s Size(B) \t Median Time(us) \t Min. Time(us)\n", table.is_driver ? "" : "\t");
  }

  void row(const LatencyTable& table, const LatencyRow& row) override {
    std::printf("%s \t %8zu \t %11.4f \t %11.4f\n", name(table), row.size_bytes, row.median_us, row.minimum_us);
    std::fflush(stdout);
  }

  void step(const char* text) override { std::printf("%s\n", text); }

 private:
  static const char* name(const LatencyTable& table) {
    if (table.is_driver) return table.direction == Direction::to_device ? "cuMemcpy_H2D" : "cuMemcpy_D2H";
    return table.direction == Direction::to_device ? "gdr_copy_to_mapping" : "gdr_copy_from_mapping";
  }

  const CopylatOptions& options_;
};

}  // namespace

std::unique_ptr<CopylatPrinter> make_table_printer(const CopylatOptions& options) {
  return std::make_unique<TablePrinter>(options);
}

std::unique_ptr<CopylatPrinter> make_gdrcopy_printer(const CopylatOptions& options) {
  return std::make_unique<GdrcopyPrinter>(options);
}

}  // namespace gdrkit::measure::copylat
