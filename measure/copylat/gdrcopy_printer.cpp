// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRCopy's lines of copylat, for scripts that parse them.
#include <cinttypes>
#include <cstdio>

#include "measure/copylat/printer.hpp"

namespace gdrkit::measure::copylat {
namespace {

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

std::unique_ptr<CopylatPrinter> make_gdrcopy_printer(const CopylatOptions& options) {
  return std::make_unique<GdrcopyPrinter>(options);
}

}  // namespace gdrkit::measure::copylat
