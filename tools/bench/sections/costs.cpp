// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// costs: what it takes until memory can be copied to and from, and to give it back. Every call is timed by itself: it
// is long beside a look at the clock, and callers make it once, not in loops.
#include <sys/mman.h>

#include <array>
#include <new>

#include "bench/harness/stopwatch.hpp"
#include "tools/bench/measure/copy_station.hpp"
#include "tools/bench/measure/pattern.hpp"

namespace gdrkit::tools {
namespace {

constexpr double ns_per_us = 1000;
/// A call's time varies more than a copy's, and one round is one call.
constexpr int rounds_factor = 2;
constexpr std::size_t mib = std::size_t{1} << 20;

enum Step : std::size_t { open_step, pin_step, map_step, pin_and_map_step, unmap_step, unpin_step, close_step, steps };
constexpr std::array<const char*, steps> step_names = {"open", "pin", "map", "pin_and_map", "unmap", "unpin", "close"};
constexpr const char* control_name = "mmap_munmap";

/// One value a repeat, in microseconds.
struct CostSamples {
  std::array<std::vector<double>, steps> us;
  std::vector<double> control_us;
};

double us_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) / ns_per_us;
}

void check(int result, const char* call) {
  if (result != 0) throw Failure(ExitCode::failed, std::string(call) + ": " + errno_text(result));
}

/// The yardstick: what the operating system itself takes to make and end a mapping of one 64 KiB page.
double time_control() {
  const std::int64_t begin = now_ns();
  void* const mapping = ::mmap(nullptr, rotation_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping != MAP_FAILED) {
    *static_cast<volatile char*>(mapping) = 1;
    ::munmap(mapping, rotation_bytes);
  }
  return us_between(begin, now_ns());
}

void repeat_once(const AlignedAllocation& memory, CostSamples* samples) {
  gdr_mh_t handle{};
  void* mapping = nullptr;
  const std::size_t size = memory.rounded_bytes();
  samples->control_us.push_back(time_control());
  const std::int64_t begin = now_ns();
  const gdr_t context = gdr_open();
  const std::int64_t opened = now_ns();
  if (context == nullptr) throw Failure(ExitCode::failed, "gdr_open failed");
  const std::int64_t before_pin = now_ns();
  const int pin_result = gdr_pin_buffer(context, memory.address(), size, 0, 0, &handle);
  const std::int64_t pinned = now_ns();
  const int map_result = pin_result != 0 ? 0 : gdr_map(context, handle, &mapping, size);
  const std::int64_t mapped = now_ns();
  if (pin_result != 0 || map_result != 0) {
    (void)gdr_close(context);
    throw CannotMeasure(std::string(pin_result != 0 ? "gdr_pin_buffer: " : "gdr_map: ") +
                        errno_text(pin_result != 0 ? pin_result : map_result));
  }
  const std::int64_t before_unmap = now_ns();
  check(gdr_unmap(context, handle, mapping, size), "gdr_unmap");
  const std::int64_t unmapped = now_ns();
  check(gdr_unpin_buffer(context, handle), "gdr_unpin_buffer");
  const std::int64_t unpinned = now_ns();
  check(gdr_close(context), "gdr_close");
  const std::int64_t end = now_ns();
  samples->us[open_step].push_back(us_between(begin, opened));
  samples->us[pin_step].push_back(us_between(before_pin, pinned));
  samples->us[map_step].push_back(us_between(pinned, mapped));
  samples->us[pin_and_map_step].push_back(us_between(before_pin, mapped));
  samples->us[unmap_step].push_back(us_between(before_unmap, unmapped));
  samples->us[unpin_step].push_back(us_between(unmapped, unpinned));
  samples->us[close_step].push_back(us_between(unpinned, end));
}

Series series_of(const char* operation, bool is_control) {
  Series series;
  series.id = std::string("costs/") + operation;
  series.group = "costs";
  series.title = is_control ? "mmap + munmap of 64 KiB, the operating system's own" : operation;
  if (std::string(operation) == "pin_and_map") series.title = "pin and map";
  series.operation = operation;
  series.method = is_control ? "raw" : "mapping";
  series.x_name = "size_bytes";
  series.unit = "us";
  if (!is_control) series.control = std::string("costs/") + control_name;
  return series;
}

Point point_of(std::size_t size_bytes, const std::vector<double>& values_us) {
  Measured measured;
  measured.operations_per_round = 1;
  measured.round_ns = values_us;
  measured.single_ns = values_us;
  return make_point(static_cast<double>(size_bytes), measured, 1);
}

/// Varied content, as users have: zeros would be verified in another way.
void fill(shim::Device* device, const AlignedAllocation& memory) {
  std::vector<std::uint8_t> bytes(std::min(memory.rounded_bytes(), mib));
  write_pattern(bytes.data(), {0, bytes.size()}, 5);
  for (std::size_t at = 0; at < memory.rounded_bytes(); at += bytes.size()) {
    const auto copied = device->copy_to_device(memory.address() + at, bytes.data(),
                                               std::min(bytes.size(), memory.rounded_bytes() - at));
    if (!copied.has_value()) throw Failure(ExitCode::failed, "filling the buffer: " + std::string(base::detail()));
  }
}

void measure_costs(Session* session, std::size_t size_bytes, const Effort& effort, Collector* collector) {
  std::unique_ptr<AlignedAllocation> memory;
  try {
    memory = std::make_unique<AlignedAllocation>(session->device(), shim::AllocationKind::cuda_malloc, size_bytes);
    fill(session->device(), *memory);
  } catch (const Failure& failure) {
    throw CannotMeasure(failure.what());
  }
  CostSamples first;  // pays for what is set up once in a process
  repeat_once(*memory, &first);
  CostSamples samples;
  const std::int64_t begin = now_ns();
  for (int repeat = 0; repeat < effort.rounds * rounds_factor; ++repeat) {
    if (repeat >= effort.rounds && static_cast<double>(now_ns() - begin) > effort.budget_ns) break;
    repeat_once(*memory, &samples);
  }
  for (std::size_t step = 0; step < steps; ++step) {
    collector->add(series_of(step_names[step], false), point_of(size_bytes, samples.us[step]));
  }
  collector->add(series_of(control_name, true), point_of(size_bytes, samples.control_us));
}

}  // namespace

std::vector<Cell> costs_cells(Session* session) {
  const std::vector<std::size_t> few = {65536, 4 * mib};
  const std::vector<std::size_t> many = {65536, mib / 4, mib, 4 * mib, 16 * mib, 64 * mib, 256 * mib};
  std::vector<Cell> cells;
  std::size_t last = 0;
  for (const std::size_t size : session->sizes_or(session->options().is_quick ? few : many)) {
    // Pages of 64 KiB are pinned: smaller sizes cost the same.
    const std::size_t whole_pages = (size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
    if (whole_pages == last) continue;
    last = whole_pages;
    cells.push_back({"costs " + size_text(whole_pages), [=](const Effort& effort, Collector* collector) {
                       measure_costs(session, whole_pages, effort, collector);
                     }});
  }
  return cells;
}

}  // namespace gdrkit::tools
