// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Times of every engine, and of the automatic choice, next to cudaMemcpyAsync plus synchronize, in one run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/path.hpp"
#include "fakes/gpu_threads.hpp"

namespace gdrkit::tests {
namespace {

using engine::Copy;
using engine::Direction;
using engine::HostMemory;
using Clock = std::chrono::steady_clock;

constexpr std::size_t memory_bytes = std::size_t{16} << 20;
constexpr std::size_t sizes[] = {8,     64,     1024,   2048,   3072,    4096,    8192,    16384,   32768,
                                 65536, 131072, 262144, 524288, 1048576, 2097152, 4194304, 16777216};

struct Machine {
  const shim::CudaCalls* calls = nullptr;
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<backend::BackendBuffer> buffer;
  std::unique_ptr<backend::BackendPin> pin;
  std::unique_ptr<engine::Gpu> gpu;
  engine::PinnedMemory stand_in;  ///< for memory of CUDA's, where threads play the GPU
  char* pinned = nullptr;
  std::vector<char> ordinary = std::vector<char>(memory_bytes, 1);
  char* mapped = nullptr;
  copy::Copier copier;
  void* stream = nullptr;
};

template <class T>
T must(base::Result<T> result, const char* step, int exit_code = 1) {
  if (!result) {
    std::printf("%s: %s\n", step, result.error().text());
    std::exit(exit_code);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void open(Machine& machine, bool is_emulated) {
  machine.calls = is_emulated ? &fakes::gpu_threads() : must(shim::cuda_calls(), "CUDA", 77);
  for (const backend::Registration& entry : backend::registrations()) {
    if (entry.automatic == is_emulated || machine.backend != nullptr) continue;
    auto opened = entry.open({});
    if (opened) machine.backend = std::move(*opened);
  }
  if (machine.backend == nullptr) std::exit((std::printf("no backend can run here\n"), 77));
  machine.buffer = must(machine.backend->allocate(0, memory_bytes), "allocate", 77);
  machine.gpu = must(engine::Gpu::open(*machine.calls, 0), "open the GPU");
  backend::PinRequest request;
  request.address = machine.buffer->address();
  request.size_bytes = memory_bytes;
  machine.pin = must(machine.backend->pin(request), "pin");
  const auto region = must(machine.pin->map(machine.pin->page_bytes(), backend::MappingType::none), "map");
  machine.mapped = static_cast<char*>(region.address) + (request.address - machine.pin->page_address());
  machine.copier = must(copy::choose(cpu::detect(), region.type, nullptr), "choose copy kernels");
  const auto scope = must(machine.gpu->enter(), "enter");
  if (is_emulated) {
    machine.stand_in = must(engine::PinnedMemory::make(*machine.gpu, memory_bytes), "pin host memory");
    machine.pinned = machine.stand_in.bytes();
  } else {
    // What programs use, and "gdrkit tune" measures with: the GPU reads memory that was registered at another speed.
    void* allocated = nullptr;
    if (machine.calls->mem_alloc_host(&allocated, memory_bytes) != 0) std::exit(1);
    machine.pinned = static_cast<char*>(allocated);
  }
  std::memset(machine.pinned, 1, memory_bytes);
  if (machine.calls->stream_create(&machine.stream, shim::cuda_stream_non_blocking) != 0) std::exit(1);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// One row: a way to copy so many bytes.
struct Way {
  std::string name;
  std::size_t largest_bytes;
  bool is_single;  ///< a mapping that names its engine: what the automatic choice is held against
  std::function<bool(std::size_t)> copy;
  std::vector<double> medians;  ///< in us, of the turns at the current size; empty: it cannot, or one failed
};

constexpr int turns = 9;

/// Every way in turns, as a machine's speed changes from second to second.
void measure_size(std::vector<Way>& ways, std::size_t size, std::chrono::microseconds pause) {
  const bool is_cold = pause.count() != 0;
  const int copies = size > 1048576 ? 4 : is_cold ? 7 : 25;
  const int untimed = is_cold ? 0 : 3;  // the mover is warm after the first
  for (Way& way : ways) way.medians.clear();
  for (int turn = 0; turn < turns; ++turn) {
    for (Way& way : ways) {
      if (size > way.largest_bytes || way.medians.size() != static_cast<std::size_t>(turn)) continue;
      std::vector<double> times;
      bool is_good = true;
      for (int round = -untimed; round < copies && is_good; ++round) {
        if (is_cold) std::this_thread::sleep_for(pause);
        const auto begin = Clock::now();
        is_good = way.copy(size);
        if (round >= 0) times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      }
      if (is_good) way.medians.push_back(median(times));
    }
  }
  for (Way& way : ways) {
    if (way.medians.size() != static_cast<std::size_t>(turns)) way.medians.clear();
  }
}

/// How many times as long as the fastest single engine `way` took, the median over the turns.
double ratio_to_fastest(const std::vector<Way>& ways, const Way& way) {
  const Way* fastest = nullptr;
  for (const Way& single : ways) {
    if (!single.is_single || single.medians.empty()) continue;
    if (fastest == nullptr || median(single.medians) < median(fastest->medians)) fastest = &single;
  }
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < way.medians.size(); ++turn) {
    ratios.push_back(way.medians[turn] / fastest->medians[turn]);
  }
  return ratios.empty() ? 0 : median(ratios);
}

Copy copy_of(const Machine& machine, Direction direction, HostMemory kind, std::size_t size) {
  Copy copy;
  copy.direction = direction;
  copy.host_memory = kind;
  copy.device = machine.buffer->address();
  copy.mapped = machine.mapped;
  copy.host = kind == HostMemory::pinned ? machine.pinned : const_cast<char*>(machine.ordinary.data());
  copy.size_bytes = size;
  copy.copier = &machine.copier;
  return copy;
}

bool run_baseline(const Machine& machine, const Copy& copy) {
  const int begun =
      copy.direction == Direction::from_device
          ? machine.calls->memcpy_device_to_host_async(copy.host, copy.device, copy.size_bytes, machine.stream)
          : machine.calls->memcpy_host_to_device_async(copy.device, copy.host, copy.size_bytes, machine.stream);
  return begun == 0 && machine.calls->stream_synchronize(machine.stream) == 0;
}

bool run_engine(engine::Engine& engine, const Copy& copy) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto ticket = engine.submit(copy);
    if (ticket && engine.complete(*ticket)) return true;
  }
  return false;
}

std::unique_ptr<engine::Engine> open_engine(Machine& machine, const engine::Registration& entry, unsigned blocks,
                                            bool is_emulated) {
  engine::Place place;
  place.backend = machine.backend.get();
  place.gpu = machine.gpu.get();
  place.residence.blocks = blocks;
  if (is_emulated) place.residence.start = std::chrono::seconds(2);
  auto opened = entry.open(place);
  if (!opened) std::printf("%s cannot run here: %s\n", entry.name, opened.error().text());
  return opened ? std::move(*opened) : nullptr;
}

/// The mover with each number of blocks, by itself.
void add_movers(Machine& machine, HostMemory kind, Direction direction, bool is_emulated,
                std::vector<std::unique_ptr<engine::Engine>>* movers, std::vector<Way>* ways) {
  for (const engine::Registration& entry : engine::registrations()) {
    if (entry.id != engine::Id::mover) continue;
    for (const unsigned blocks : {4u, 2u, 1u}) {
      movers->push_back(open_engine(machine, entry, blocks, is_emulated));
      engine::Engine* const mover = movers->back().get();
      if (mover == nullptr) continue;
      const engine::Traits& traits = mover->traits();
      ways->push_back({"mover, " + std::to_string(blocks) + " blocks",
                       kind == HostMemory::pinned ? traits.largest_bytes : traits.largest_ordinary_bytes,
                       false,
                       [&machine, mover, direction, kind](std::size_t size) {
                         return run_engine(*mover, copy_of(machine, direction, kind, size));
                       },
                       {}});
    }
  }
}

/// As in a program, whose mappings share the engines of their context: each engine by its name, then the choice.
void add_mappings(Machine& machine, HostMemory kind, Direction direction, engine::Engines& engines,
                  std::vector<std::unique_ptr<engine::Path>>* paths, std::vector<Way>* ways) {
  const engine::Span span{machine.buffer->address(), machine.mapped, memory_bytes, machine.copier};
  for (const char* name : {"lanes", "copy_engine", "mover", "automatic"}) {
    auto opened = engines.open_path(span, name);
    const bool is_automatic = name == std::string("automatic");
    if (!opened && !is_automatic) {
      std::printf("%s cannot run here: %s\n", name, opened.error().text());
      continue;
    }
    paths->push_back(must(std::move(opened), "open the automatic choice"));
    engine::Path& path = *paths->back();
    ways->push_back({name,
                     memory_bytes,
                     !is_automatic,
                     [&machine, &path, direction, kind](std::size_t size) {
                       return bool(path.copy(direction, 0, copy_of(machine, direction, kind, size).host, size));
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

void measure_rows(Machine& machine, Direction direction, HostMemory kind, std::chrono::microseconds pause,
                  const std::string& profiles, bool is_emulated) {
  const auto scope = must(machine.gpu->enter(), "enter");  // as in a program that uses CUDA
  std::vector<std::unique_ptr<engine::Engine>> movers;
  std::vector<Way> ways;
  ways.push_back({"cudaMemcpyAsync",
                  memory_bytes,
                  false,
                  [&](std::size_t size) { return run_baseline(machine, copy_of(machine, direction, kind, size)); },
                  {}});
  add_movers(machine, kind, direction, is_emulated, &movers, &ways);
  // A mapping that names the CPU has no path.
  ways.push_back({"cpu",
                  std::size_t{1} << 20,
                  true,
                  [&](std::size_t size) {
                    const Copy copy = copy_of(machine, direction, kind, size);
                    engine::copy_by_cpu(machine.copier, direction, copy.mapped, copy.host, size);
                    return true;
                  },
                  {}});
  engine::ResidenceLimits limits;
  if (is_emulated) limits.start = std::chrono::seconds(2);
  engine::Engines engines(*machine.backend, "", machine.calls, limits, profiles);
  std::vector<std::unique_ptr<engine::Path>> paths;
  add_mappings(machine, kind, direction, engines, &paths, &ways);
  std::vector<std::vector<double>> rows(ways.size());
  std::vector<double> ratios;
  for (const std::size_t size : sizes) {
    measure_size(ways, size, pause);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      rows[way].push_back(ways[way].medians.empty() ? 0 : median(ways[way].medians));
    }
    ratios.push_back(ratio_to_fastest(ways, ways.back()));
  }
  std::printf("%-26s", "bytes");
  for (const std::size_t size : sizes) std::printf("%9zu", size);
  std::printf("\n");
  for (std::size_t way = 0; way < ways.size(); ++way) print_row(ways[way].name, rows[way]);
  print_row("automatic to the fastest", ratios);
}

int run(const std::string& profiles, bool is_emulated) {
  Machine machine;
  open(machine, is_emulated);
  std::printf("medians in us; backend %s%s\n", machine.backend->traits().name,
              is_emulated ? "; threads play the GPU: these times say nothing" : "");
  for (const auto pause : {std::chrono::microseconds(0), std::chrono::microseconds(1000)}) {
    for (const Direction direction : {Direction::from_device, Direction::to_device}) {
      for (const HostMemory kind : {HostMemory::pinned, HostMemory::ordinary}) {
        std::printf("\n%s, %s host memory, %s\n",
                    direction == Direction::from_device ? "device to host" : "host to device",
                    kind == HostMemory::pinned ? "pinned" : "ordinary", pause.count() == 0 ? "warm" : "1 ms apart");
        measure_rows(machine, direction, kind, pause, profiles, is_emulated);
      }
    }
  }
  const auto scope = must(machine.gpu->enter(), "enter");
  (void)machine.calls->stream_destroy(machine.stream);
  if (!is_emulated) (void)machine.calls->mem_free_host(machine.pinned);
  return 0;
}

}  // namespace
}  // namespace gdrkit::tests

int main(int count, char** arguments) {
  const std::string argument = count == 2 ? arguments[1] : "";
  const bool is_emulated = argument == "--emulated";
  if (count > 2 || (!is_emulated && argument.rfind("-", 0) == 0)) {
    std::printf(
        "usage: measure_engines [--emulated | FOLDER]\nFOLDER: of profiles that \"gdrkit tune\" wrote; without it the "
        "built-in table chooses\n");
    return 2;
  }
  return gdrkit::tests::run(is_emulated ? "" : argument, is_emulated);
}
