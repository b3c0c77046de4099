// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Times of every engine and of the automatic choice, compared with cudaMemcpyAsync plus synchronize, in one run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <gdrkit/gdrkit.hpp>
#include <string>
#include <vector>

#include "driver/cuda_calls.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"

namespace gdrkit::tests {
namespace {

using engine::Copy;
using engine::Direction;
using engine::HostMemory;
using Clock = std::chrono::steady_clock;

constexpr std::size_t memory_bytes = std::size_t{16} << 20;
constexpr std::size_t sizes[] = {8,     64,     1024,   2048,   3072,   4096,    8192,    16384,   32768,
                                 65536, 131072, 262144, 393216, 524288, 1048576, 2097152, 4194304, 16777216};

template <class T>
T must(base::Result<T> result, const char* step, int exit_code = 1) {
  if (!result) {
    std::printf("%s: %s\n", step, result.error().text());
    std::exit(exit_code);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The public objects, and below them the parts of engines, for movers with another number of blocks.
struct Machine {
  Context context;
  Buffer buffer = context.allocate(memory_bytes);

  const driver::CudaCalls* calls = must(driver::cuda_calls(), "CUDA", 77);
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<engine::Gpu> gpu = must(engine::Gpu::open(*calls, 0), "open the GPU");
  backend::CudaScope scope = must(gpu->enter(), "enter");  ///< as in a program that uses CUDA
  std::byte* pinned = nullptr;
  std::vector<std::byte> ordinary = std::vector<std::byte>(memory_bytes, std::byte{1});
  void* stream = nullptr;

  Machine() {
    for (const backend::Registration& entry : backend::registrations()) {
      if (!entry.automatic || backend != nullptr) continue;
      if (auto opened = entry.open({})) backend = std::move(*opened);
    }
    // Programs use this memory, and so does "gdrkit tune": the GPU reads registered memory at another speed.
    void* allocated = nullptr;
    if (calls->mem_alloc_host(&allocated, memory_bytes) != 0) std::exit(1);
    pinned = static_cast<std::byte*>(allocated);
    std::memset(pinned, 1, memory_bytes);
    if (calls->stream_create(&stream, driver::cuda_stream_non_blocking) != 0) std::exit(1);
  }
  ~Machine() {
    (void)calls->stream_destroy(stream);
    (void)calls->mem_free_host(pinned);
  }
  [[nodiscard]] std::byte* host(HostMemory kind) { return kind == HostMemory::pinned ? pinned : ordinary.data(); }
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One row: a way to copy a number of bytes.
struct Way {
  std::string name;
  std::size_t largest_bytes;
  bool is_single;  ///< a mapping with an explicit engine: the reference for the automatic choice
  std::function<bool(std::size_t)> copy;
  std::vector<double> medians;  ///< in us, of the turns at the current size; empty: not available, or a copy failed
};

/// Computes, as a program would between two copies: the wake-up time of a sleeping core is not part of an engine's
/// time.
void compute_for(std::chrono::microseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

/// Measures all ways in turns, because a machine's speed changes from second to second, each with memory that the CPU
/// just wrote.
void measure_size(std::vector<Way>& ways, std::byte* host, std::size_t size, std::chrono::microseconds pause) {
  const bool is_cold = pause.count() != 0;
  const int turns = is_cold ? 15 : 9;
  const int times_of_a_turn = size > 1048576 ? 4 : is_cold ? 7 : 25;
  const int untimed = is_cold ? 1 : 3;  // the mover is warm after the first
  // A single small write takes 40 or 125 ns, depending on whether the clock waits for its store; ten writes take ten
  // times as long.
  const int batch = !is_cold && size <= 8192 ? 10 : 1;
  for (Way& way : ways) way.medians.clear();
  for (int turn = 0; turn < turns; ++turn) {
    for (Way& way : ways) {
      if (size > way.largest_bytes || way.medians.size() != static_cast<std::size_t>(turn)) continue;
      std::memset(host, 1, size);
      std::vector<double> times;
      bool is_good = true;
      for (int round = -untimed; round < times_of_a_turn && is_good; ++round) {
        if (is_cold) compute_for(pause);
        const auto begin = Clock::now();
        for (int copy = 0; copy < batch && is_good; ++copy) is_good = way.copy(size);
        const double time = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
        if (round >= 0) times.push_back(time / batch);
      }
      if (is_good) way.medians.push_back(median(times));
    }
  }
  for (Way& way : ways) {
    if (way.medians.size() != static_cast<std::size_t>(turns)) way.medians.clear();
  }
}

/// Returns the time of `way` relative to the fastest single engine: the median over the turns.
double ratio_to_fastest(const std::vector<Way>& ways, const Way& way) {
  const Way* fastest = nullptr;
  for (const Way& single : ways) {
    if (!single.is_single || single.medians.empty()) continue;
    if (fastest == nullptr || median(single.medians) < median(fastest->medians)) fastest = &single;
  }
  if (fastest == nullptr) return 0;
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < way.medians.size(); ++turn) {
    ratios.push_back(way.medians[turn] / fastest->medians[turn]);
  }
  return ratios.empty() ? 0 : median(ratios);
}

bool run_baseline(Machine& machine, Direction direction, std::byte* host, std::size_t size) {
  const std::uint64_t device = machine.buffer.device_address();
  const int begun = direction == Direction::from_device
                        ? machine.calls->memcpy_device_to_host_async(host, device, size, machine.stream)
                        : machine.calls->memcpy_host_to_device_async(device, host, size, machine.stream);
  return begun == 0 && machine.calls->stream_synchronize(machine.stream) == 0;
}

bool run_engine(engine::Engine& engine, const Copy& copy) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto ticket = engine.submit(copy);
    if (ticket && engine.complete(*ticket)) return true;
  }
  return false;
}

/// Adds the mover with each number of blocks, used directly.
void add_movers(Machine& machine, HostMemory kind, Direction direction,
                std::vector<std::unique_ptr<engine::Engine>>* movers, std::vector<Way>* ways) {
  for (const unsigned blocks : {4u, 2u, 1u}) {
    engine::Place place{*machine.backend, *machine.gpu, {}};
    place.residence.blocks = blocks;
    auto opened = engine::open_mover(place);
    if (!opened) {
      std::printf("the mover cannot run here: %s\n", opened.error().text());
      continue;
    }
    movers->push_back(std::move(*opened));
    engine::Engine* const mover = movers->back().get();
    const engine::Traits& traits = mover->traits();
    Copy copy;
    copy.direction = direction;
    copy.host_memory = kind;
    copy.device = machine.buffer.device_address();
    copy.host = machine.host(kind);
    ways->push_back({"mover, " + std::to_string(blocks) + " blocks",
                     kind == HostMemory::pinned ? traits.largest_bytes : traits.largest_ordinary_bytes,
                     false,
                     [mover, copy](std::size_t size) {
                       Copy sized = copy;
                       sized.size_bytes = size;
                       return run_engine(*mover, sized);
                     },
                     {}});
  }
}

/// Adds the mappings of a program, all of one context: each explicit engine, then the automatic choice.
void add_mappings(Machine& machine, HostMemory kind, Direction direction, std::vector<Pin>* pins,
                  std::vector<Mapping>* mappings, std::vector<Way>* ways) {
  std::byte* const host = machine.host(kind);
  const std::vector<std::string> names = {"cpu", "lanes", "copy_engine", "mover", "automatic"};
  pins->reserve(names.size());
  mappings->reserve(names.size());
  for (const std::string& name : names) {
    pins->push_back(machine.context.pin(machine.buffer));
    try {
      mappings->push_back(pins->back().map({.engine = engine_from_name(name).value()}));
    } catch (const Error& error) {
      std::printf("%s cannot run here: %s\n", name.c_str(), error.what());
      continue;
    }
    const gdrkit_pin_t pin = pins->back().handle();
    // Large copies from the device by the CPU take milliseconds.
    ways->push_back({name,
                     name == "cpu" ? std::size_t{1} << 20 : memory_bytes,
                     name != "automatic",
                     [pin, direction, host](std::size_t size) {
                       return (direction == Direction::from_device ? gdrkit_read(pin, 0, host, size)
                                                                   : gdrkit_write(pin, 0, host, size)) == 0;
                     },
                     {}});
  }
}

void print_row(const std::string& name, const std::vector<double>& values) {
  std::printf("%-26s", name.c_str());
  for (const double value : values) {
    if (value == 0) {
      std::printf("%9s", "-");
    } else {
      std::printf("%9.2f", value);
    }
  }
  std::printf("\n");
  std::fflush(stdout);
}

void measure_rows(Machine& machine, Direction direction, HostMemory kind, std::chrono::microseconds pause) {
  std::vector<std::unique_ptr<engine::Engine>> movers;
  std::vector<Pin> pins;
  std::vector<Mapping> mappings;
  std::vector<Way> ways;
  std::byte* const host = machine.host(kind);
  ways.push_back({"cudaMemcpyAsync",
                  memory_bytes,
                  false,
                  [&, host](std::size_t size) { return run_baseline(machine, direction, host, size); },
                  {}});
  add_movers(machine, kind, direction, &movers, &ways);
  add_mappings(machine, kind, direction, &pins, &mappings, &ways);
  std::vector<std::vector<double>> rows(ways.size());
  std::vector<double> ratios;
  for (const std::size_t size : sizes) {
    measure_size(ways, host, size, pause);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      rows[way].push_back(ways[way].medians.empty() ? 0 : median(ways[way].medians));
    }
    ratios.push_back(ratio_to_fastest(ways, ways.back()));
  }
  std::printf("%-26s", "bytes");
  for (const std::size_t size : sizes) std::printf("%9zu", size);
  std::printf("\n");
  for (std::size_t way = 0; way < ways.size(); ++way) print_row(ways[way].name, rows[way]);
  print_row("automatic / fastest", ratios);
}

int run() {
  Machine machine;
  std::printf("medians in us; backend %s\n", machine.context.backend_name());
  for (const auto pause : {std::chrono::microseconds(0), std::chrono::microseconds(1000)}) {
    for (const Direction direction : {Direction::from_device, Direction::to_device}) {
      for (const HostMemory kind : {HostMemory::pinned, HostMemory::ordinary}) {
        std::printf("\n%s, %s host memory, %s\n",
                    direction == Direction::from_device ? "device to host" : "host to device",
                    kind == HostMemory::pinned ? "pinned" : "ordinary", pause.count() == 0 ? "warm" : "1 ms apart");
        measure_rows(machine, direction, kind, pause);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace gdrkit::tests

int main(int count, char**) try {
  if (count > 1) {
    std::printf(
        "usage: measure_engines\nThe automatic choice uses the profile that \"gdrkit tune\" wrote to the user's cache "
        "directory (XDG_CACHE_HOME), or else the built-in table.\n");
    return 2;
  }
  return gdrkit::tests::run();
} catch (const gdrkit::Error& error) {
  std::printf("%s\n", error.what());
  return error.code() == std::errc::no_such_device ? 77 : 1;
}
