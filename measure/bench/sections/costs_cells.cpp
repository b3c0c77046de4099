// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// costs: the time to make memory accessible for copies, and to undo it. Every call is timed separately: it is long
// compared with a clock read, and programs call it once, not in loops.
#include <sys/mman.h>

#include <array>
#include <new>

#include "cli/interface/demand.hpp"
#include "measure/bench/measure/copy_pattern.hpp"
#include "measure/bench/measure/copy_station.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr double ns_per_us = 1000;
/// A call's time varies more than a copy's, and a round consists of one call.
constexpr int rounds_factor = 2;
constexpr std::size_t mib = std::size_t{1} << 20;

/// The first pin of a context also initializes state that the context keeps; close releases it.
enum Step : std::size_t {
  open_step,
  first_pin_step,
  pin_step,
  map_step,
  pin_and_map_step,
  unmap_step,
  unpin_step,
  close_step,
  steps
};
constexpr std::array<const char*, steps> step_names = {"open",        "first_pin", "pin",   "map",
                                                       "pin_and_map", "unmap",     "unpin", "close"};
constexpr const char* control_name = "mmap_munmap";

/// One value per repeat, in microseconds.
struct CostSamples {
  std::array<std::vector<double>, steps> us;
  std::vector<double> control_us;
};

double us_between(std::int64_t begin_ns, std::int64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) / ns_per_us;
}

void check(int result, const char* call) {
  if (result != 0) cli::fail(std::string(call) + ": " + errno_text(result));
}

/// The baseline: the time of the operating system to create and remove a mapping of one 64 KiB page.
double time_control() {
  const std::int64_t begin = platform::now_ns();
  void* const mapping = ::mmap(nullptr, rotation_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping != MAP_FAILED) {
    *static_cast<volatile char*>(mapping) = 1;
    ::munmap(mapping, rotation_bytes);
  }
  return us_between(begin, platform::now_ns());
}

/// Times in the lifetime of one pin.
struct PinTimes {
  std::int64_t begin = 0;
  std::int64_t pinned = 0;
  std::int64_t mapped = 0;
  std::int64_t unmapped = 0;
  std::int64_t unpinned = 0;
};

/// Throws CannotMeasure if the memory cannot be pinned or mapped; the caller closes `context`.
PinTimes pin_and_undo(gdr_t context, const AlignedAllocation& memory) {
  gdr_mh_t handle{};
  void* mapping = nullptr;
  const std::size_t size = memory.rounded_bytes();
  PinTimes times;
  times.begin = platform::now_ns();
  const int pin_result = gdr_pin_buffer(context, memory.address(), size, 0, 0, &handle);
  times.pinned = platform::now_ns();
  if (pin_result != 0)
    throw CannotMeasure(std::string("cannot pin the buffer (gdr_pin_buffer): ") + errno_text(pin_result));
  const int map_result = gdr_map(context, handle, &mapping, size);
  times.mapped = platform::now_ns();
  if (map_result != 0) throw CannotMeasure(std::string("cannot map the buffer (gdr_map): ") + errno_text(map_result));
  const std::int64_t before_unmap = platform::now_ns();
  check(gdr_unmap(context, handle, mapping, size), "gdr_unmap");
  times.unmapped = platform::now_ns() - before_unmap + times.mapped;
  const std::int64_t before_unpin = platform::now_ns();
  check(gdr_unpin_buffer(context, handle), "gdr_unpin_buffer");
  times.unpinned = platform::now_ns() - before_unpin + times.unmapped;
  return times;
}

void repeat_once(const AlignedAllocation& memory, CostSamples* samples) {
  samples->control_us.push_back(time_control());
  const std::int64_t begin = platform::now_ns();
  DropIn context(gdr_open());
  const std::int64_t opened = platform::now_ns();
  if (context == nullptr) cli::fail("cannot open a gdrkit context: gdr_open failed; run 'gdrkit info' for the cause");
  const PinTimes first = pin_and_undo(context.get(), memory);
  const PinTimes later = pin_and_undo(context.get(), memory);  // the cost for a program's second and later buffers
  const std::int64_t before_close = platform::now_ns();
  check(gdr_close(context.release()), "gdr_close");
  const std::int64_t end = platform::now_ns();
  samples->us[open_step].push_back(us_between(begin, opened));
  samples->us[first_pin_step].push_back(us_between(first.begin, first.pinned));
  samples->us[pin_step].push_back(us_between(later.begin, later.pinned));
  samples->us[map_step].push_back(us_between(later.pinned, later.mapped));
  samples->us[pin_and_map_step].push_back(us_between(later.begin, later.mapped));
  samples->us[unmap_step].push_back(us_between(later.mapped, later.unmapped));
  samples->us[unpin_step].push_back(us_between(later.unmapped, later.unpinned));
  samples->us[close_step].push_back(us_between(before_close, end));
}

Series series_of(const char* operation, bool is_control) {
  Series series;
  series.id = std::string("costs/") + operation;
  series.group = "costs";
  series.title = is_control ? "mmap + munmap of 64 KiB, the operating system's own" : operation;
  if (std::string(operation) == "pin_and_map") series.title = "pin and map";
  if (std::string(operation) == "first_pin") series.title = "the first pin of a context";
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

/// Varied content, as in programs: zeros would be verified in another way.
void fill(platform::Device* device, const AlignedAllocation& memory) {
  std::vector<std::uint8_t> bytes(std::min(memory.rounded_bytes(), mib));
  write_pattern(bytes.data(), {0, bytes.size()}, 5);
  for (std::size_t at = 0; at < memory.rounded_bytes(); at += bytes.size()) {
    cli::demand(device->copy_to_device(memory.address() + at, bytes.data(),
                                       std::min(bytes.size(), memory.rounded_bytes() - at)),
                "cannot fill the buffer: ");
  }
}

void measure_costs(Session* session, std::size_t size_bytes, const Effort& effort, Collector* collector) {
  std::unique_ptr<AlignedAllocation> memory;
  try {
    memory = std::make_unique<AlignedAllocation>(session->device(), platform::AllocationKind::cuda_malloc, size_bytes);
    fill(session->device(), *memory);
  } catch (const cli::Failure& failure) {
    throw CannotMeasure(failure.what());
  }
  CostSamples first;  // includes the initialization once per process
  repeat_once(*memory, &first);
  CostSamples samples;
  const std::int64_t begin = platform::now_ns();
  for (int repeat = 0; repeat < effort.rounds * rounds_factor; ++repeat) {
    if (repeat >= effort.rounds && static_cast<double>(platform::now_ns() - begin) > effort.budget_ns) break;
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
    // Pages of 64 KiB are pinned, so smaller sizes cost the same.
    const std::size_t whole_pages = (size + GPU_PAGE_OFFSET) & GPU_PAGE_MASK;
    if (whole_pages == last) continue;
    last = whole_pages;
    cells.push_back({"costs " + cli::size_text(whole_pages), [=](const Effort& effort, Collector* collector) {
                       measure_costs(session, whole_pages, effort, collector);
                     }});
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
