// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// copybw: bandwidth of copies through the drop-in library's mapping, one CPU thread.
#include "measure/copybw/copybw.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/result.hpp"
#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/harness/host_buffer.hpp"
#include "measure/tool_parts/buffer_options.hpp"
#include "measure/tool_parts/tool_run.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::copybw {
namespace {

cli::CommandLine command_line(CopybwOptions* options) {
  cli::CommandLine line;
  line.name = "copybw";
  line.summary = "Measures the bandwidth of copies through a mapping of device memory, with one CPU thread.";
  line.example = "gdrkit copybw --size 1M --json";
  line.options = {
      {'s', "size", "SIZE", &options->size_bytes, "size of the buffer"},
      {'c', "copy-size", "SIZE", &options->copy_size_bytes, "size of a copy, or largest with --sweep (default: buffer)",
       true, false},
      {'o', "offset", "SIZE", &options->offset_bytes, "offset of copies in the buffer, a multiple of 4"},
      {'l', "sweep", "", &options->is_sweep, "measure all powers of two below the size"},
      {'w', "write-iterations", "N", &options->write_iterations, "copies to the device per size"},
      {'r', "read-iterations", "N", &options->read_iterations, "copies from the device per size"},
      allocation_option(&options->allocation),
      mapping_type_option(&options->mapping_type),
  };
  cli::add_common_options(&line, &options->common);
  cli::add_numa_options(&line, &options->numa);
  return line;
}

struct BandwidthRequest {
  std::vector<std::size_t> sizes_bytes;
  std::size_t offset_bytes = 0;
  std::size_t write_iterations = 0;  ///< not 0
  std::size_t read_iterations = 0;   ///< not 0
};

/// Called for each step: a test of large buffers takes seconds. The base class prints nothing.
class BandwidthListener {
 public:
  virtual ~BandwidthListener() = default;
  virtual void before_write(std::size_t /*size_bytes*/) {}
  virtual void after_write(double /*mib_per_s*/) {}
  virtual void before_read(std::size_t /*size_bytes*/) {}
  virtual void after_read(double /*mib_per_s*/) {}
  virtual void after_size(const BandwidthResult& /*result*/) {}
};

constexpr double mib = 1024.0 * 1024.0;

double mib_per_s(std::size_t size_bytes, double ns_per_copy) {
  return static_cast<double>(size_bytes) / mib / (ns_per_copy * 1e-9);
}

std::uint32_t word_at(const std::uint8_t* bytes, std::size_t offset, std::size_t size_bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes + offset, std::min(sizeof(word), size_bytes - offset));
  return word;
}

/// For each size: writes, reads back, and compares both with the written data. Throws Failure.
std::vector<BandwidthResult> measure_bandwidth(platform::Device* device, const MappedBuffer& buffer,
                                               std::uint64_t device_address, const BandwidthRequest& request,
                                               BandwidthListener* listener) {
  std::vector<BandwidthResult> results;
  std::uint8_t* const target = buffer.user_pointer() + request.offset_bytes;
  for (const std::size_t size : request.sizes_bytes) {
    BandwidthResult result{size, request.offset_bytes, 0, 0, {}, {}};
    const HostBuffer written(size);
    // Different for every size, so that data of an earlier size is detected.
    fill_with_pattern({written.data(), size}, static_cast<std::uint32_t>(results.size() * 2654435761u + 1));
    const HostBuffer seen(size);
    int failed = 0;

    listener->before_write(size);
    const double write_ns = platform::time_batch(request.write_iterations, [&](std::size_t) {
      failed |= gdr_copy_to_mapping(buffer.handle(), target, written.data(), size);
    });
    result.write_mib_per_s = mib_per_s(size, write_ns);
    listener->after_write(result.write_mib_per_s);
    const auto copied = device->copy_to_host(seen.data(), device_address + request.offset_bytes, size);
    GDRKIT_TOOL_ASSERT(copied.has_value(), copied.error().text());
    result.wrong_in_device = compare_words(seen.data(), written.data(), size);

    std::memset(seen.data(), 0, size);
    listener->before_read(size);
    const double read_ns = platform::time_batch(request.read_iterations, [&](std::size_t) {
      failed |= gdr_copy_from_mapping(buffer.handle(), seen.data(), target, size);
    });
    result.read_mib_per_s = mib_per_s(size, read_ns);
    listener->after_read(result.read_mib_per_s);
    result.wrong_in_host = compare_words(seen.data(), written.data(), size);

    GDRKIT_TOOL_ASSERT(failed == 0, "a copy through the mapping failed: " + errno_text(failed));
    listener->after_size(result);
    results.push_back(std::move(result));
  }
  return results;
}

/// The printer of GDRCopy's lines.
class GdrcopyPrinter final : public BandwidthListener {
 public:
  explicit GdrcopyPrinter(const CopybwOptions& options) : options_(options) {}

  void before_write(std::size_t size_bytes) override { print_before("writing", size_bytes, options_.write_iterations); }
  void after_write(double mib_per_s) override { print_after("write", mib_per_s); }
  void before_read(std::size_t size_bytes) override { print_before("reading", size_bytes, options_.read_iterations); }
  void after_read(double mib_per_s) override { print_after("read", mib_per_s); }
  void after_size(const BandwidthResult& result) override {
    for (const auto* wrong : {&result.wrong_in_device, &result.wrong_in_host}) {
      if (!wrong->empty()) std::printf("%10.10s %10.10s %10.10s\n", "word", "content", "expected");
      for (const WrongWord& word : *wrong) {
        std::printf("%10zu 0x%08" PRIx32 " 0x%08" PRIx32 "\n", word.index, word.content, word.expected);
      }
    }
  }

 private:
  void print_before(const char* what, std::size_t size_bytes, int iterations) {
    std::printf("%s test, size=%zu offset=%zu num_iters=%d\n", what, size_bytes, options_.offset_bytes, iterations);
    std::fflush(stdout);
  }
  static void print_after(const char* what, double mib_per_s) { std::printf("%s BW: %gMB/s\n", what, mib_per_s); }

  const CopybwOptions& options_;
};

class TablePrinter final : public BandwidthListener {
 public:
  void after_size(const BandwidthResult& result) override {
    std::printf("%12zu %18.6g %18.6g  %s\n", result.size_bytes, result.write_mib_per_s, result.read_mib_per_s,
                result.is_verified() ? "yes" : "NO: the content differs");
    std::fflush(stdout);
  }
};

void print_gdrcopy_head(const CopybwOptions& options, const platform::Device& device, const AlignedAllocation& memory) {
  cli::print_banner(device);
  std::printf("testing size: %zu\n", memory.size_bytes());
  std::printf("rounded size: %zu\n", memory.rounded_bytes());
  std::printf("gpu alloc fn: %s\n", options.allocation.c_str());
  std::printf("device ptr: %" PRIx64 "\n", memory.address());
}

void print_gdrcopy_mapping(const MappedBuffer& buffer) {
  std::printf("map_d_ptr: %p\n", buffer.mapping());
  cli::print_info_lines(buffer.info());
  std::printf("page offset: %zu\n", buffer.page_offset());
  std::printf("user-space pointer:%p\n", static_cast<void*>(buffer.user_pointer()));
}

void print_table_head(const CopybwOptions& options, const CopybwReport& report, const ToolRun& run) {
  if (!options.common.quiet) {
    const std::string head =
        cli::format("%s %s, backend %s, copy kernels %s (to device) and %s (from device)",
                    report.machine.gpu_name.c_str(), report.machine.gpu_pci_address.c_str(),
                    report.names.backend.c_str(), report.names.store_kernel.c_str(), report.names.load_kernel.c_str());
    std::printf("%s\n", cli::fitted(head, 2).c_str());
    const std::string counts = cli::format("%d copies to the device and %d from it per size; %s",
                                           options.write_iterations, options.read_iterations, platform::timer_name);
    std::printf("%s\n", cli::fitted(counts, 2).c_str());
    run.print_place();
  }
  if (run.is_sweep()) return;
  std::printf("%12s %18s %18s  %s\n", "bytes", "to device, MiB/s", "from device, MiB/s", "checked");
}

std::unique_ptr<BandwidthListener> listener_for(const ToolRun& run, const CopybwOptions& options) {
  if (run.prints_gdrcopy()) return std::make_unique<GdrcopyPrinter>(options);
  if (run.prints_own()) return std::make_unique<TablePrinter>();
  return std::make_unique<BandwidthListener>();
}

BandwidthRequest request_of(const CopybwOptions& options) {
  return {copy_sizes(options), options.offset_bytes, static_cast<std::size_t>(options.write_iterations),
          static_cast<std::size_t>(options.read_iterations)};
}

/// --numa all: the one size on every pair of nodes.
NumaSweep sweep(const CopybwOptions& options, platform::Device* device, const MappedBuffer& buffer,
                std::uint64_t device_address, ToolRun* run) {
  const BandwidthRequest request = request_of(options);
  const std::size_t size = request.sizes_bytes.front();
  const std::string bytes = cli::format("%zu bytes", size);
  const auto gb_per_s = [](double mib_per_s) { return mib_per_s * 1024 * 1024 / 1e9; };
  BandwidthListener silence;
  return run->sweep(
      {{"to device, " + bytes, "to_device", size, "GB/s", false, request.write_iterations},
       {"from device, " + bytes, "from_device", size, "GB/s", false, request.read_iterations}},
      [&] {
        const auto results = measure_bandwidth(device, buffer, device_address, request, &silence);
        if (!results.front().is_verified()) cli::fail("the copied data differ from the source");
        return std::vector<double>{gb_per_s(results.front().write_mib_per_s), gb_per_s(results.front().read_mib_per_s)};
      });
}

cli::ExitCode run(cli::Front front, const CopybwOptions& options) {
  const BandwidthRequest request = request_of(options);
  ToolRun run(front, options.common, options.numa);
  if (run.is_sweep() && options.is_sweep) {
    cli::reject("--numa all measures one size (--copy-size); omit --sweep");
  }
  CopybwReport report;
  const auto device = run.open(&report);
  AlignedAllocation memory(device.get(), allocation_kind(options.allocation), options.size_bytes);
  if (run.prints_gdrcopy()) print_gdrcopy_head(options, *device, memory);

  MappedBuffer buffer(memory, mapping_flag(options.mapping_type));
  report.mapping_type = buffer.mapping_type();
  if (run.prints_gdrcopy()) print_gdrcopy_mapping(buffer);
  if (run.prints_own()) print_table_head(options, report, run);

  if (run.is_sweep()) {
    report.sweep = sweep(options, device.get(), buffer, memory.address(), &run);
  } else {
    const auto listener = listener_for(run, options);
    report.results = measure_bandwidth(device.get(), buffer, memory.address(), request, listener.get());
  }

  if (run.prints_gdrcopy()) std::printf("unmapping buffer\n");
  buffer.unmap();
  if (run.prints_gdrcopy()) std::printf("unpinning buffer\n");
  buffer.unpin();
  if (run.prints_gdrcopy()) std::printf("closing gdrdrv\n");
  buffer.close();
  memory.free();
  if (options.common.json.is_given) write_copybw_json(options, report);
  const bool is_verified = std::ranges::all_of(report.results, [](const auto& result) { return result.is_verified(); });
  // Scripts around GDRCopy's tool expect 0 regardless of the comparison, whose result is printed.
  return is_verified || front == cli::Front::gdrcopy ? cli::ExitCode::ok : cli::ExitCode::failed;
}

}  // namespace

std::vector<std::size_t> copy_sizes(const CopybwOptions& options) {
  const std::size_t copy_size = options.copy_size_bytes == 0 ? options.size_bytes : options.copy_size_bytes;
  if (options.offset_bytes % 4 != 0) cli::reject("ERROR: offset must be multiple of 4 bytes");
  if (options.offset_bytes > options.size_bytes || copy_size > options.size_bytes - options.offset_bytes) {
    cli::reject("ERROR: offset + copy size run past the end of the buffer");
  }
  if (copy_size == 0) cli::reject("ERROR: cannot copy 0 bytes; use a larger size");
  check_count("-w, --write-iterations", options.write_iterations, 1, most_iterations);
  check_count("-r, --read-iterations", options.read_iterations, 1, most_iterations);
  if (!options.is_sweep) return {copy_size};
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size < std::bit_floor(copy_size); size *= 2) sizes.push_back(size);
  return sizes;
}

cli::ExitCode run_copybw(cli::Front front, int argc, char** argv) {
  CopybwOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  return run(front, options);
}

std::vector<WrongWord> compare_words(const std::uint8_t* content, const std::uint8_t* expected,
                                     std::size_t size_bytes) {
  std::vector<WrongWord> wrong;
  for (std::size_t offset = 0; offset < size_bytes && wrong.size() < most_wrong_words; offset += 4) {
    const WrongWord word{offset / 4, word_at(content, offset, size_bytes), word_at(expected, offset, size_bytes)};
    if (word.content != word.expected) wrong.push_back(word);
  }
  return wrong;
}

}  // namespace gdrkit::measure::copybw
