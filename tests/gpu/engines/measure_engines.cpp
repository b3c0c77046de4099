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
  engine::PinnedMemory pinned;
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
  machine.pinned = must(engine::PinnedMemory::make(*machine.gpu, memory_bytes), "pin host memory");
  std::memset(machine.pinned.bytes(), 1, memory_bytes);
  if (machine.calls->stream_create(&machine.stream, shim::cuda_stream_non_blocking) != 0) std::exit(1);
}

/// Median in us of `once`, 0 where it failed. `pause`: before each.
double median_us(std::size_t size, std::chrono::microseconds pause, const std::function<bool()>& once) {
  const bool is_cold = pause.count() != 0;
  const int rounds = size > 1048576 ? 30 : is_cold ? 60 : 200;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    if (is_cold) std::this_thread::sleep_for(pause);
    const auto begin = Clock::now();
    if (!once()) return 0;
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds) / 2];
}

void print_row(const char* name, const std::function<double(std::size_t)>& time_of) {
  std::printf("%-26s", name);
  for (const std::size_t size : sizes) {
    const double time = time_of(size);
    if (time == 0) {
      std::printf("%9s", "-");
    } else {
      std::printf("%9.2f", time);
    }
    std::fflush(stdout);
  }
  std::printf("\n");
}

Copy copy_of(const Machine& machine, Direction direction, HostMemory kind, std::size_t size) {
  Copy copy;
  copy.direction = direction;
  copy.host_memory = kind;
  copy.device = machine.buffer->address();
  copy.mapped = machine.mapped;
  copy.host = kind == HostMemory::pinned ? machine.pinned.bytes() : const_cast<char*>(machine.ordinary.data());
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

void measure_rows(Machine& machine, Direction direction, HostMemory kind, std::chrono::microseconds pause,
                  bool is_emulated) {
  std::printf("%-26s", "bytes");
  for (const std::size_t size : sizes) std::printf("%9zu", size);
  std::printf("\n");
  const auto scope = must(machine.gpu->enter(), "enter");  // as in a program that uses CUDA
  print_row("cudaMemcpyAsync", [&](std::size_t size) {
    const Copy copy = copy_of(machine, direction, kind, size);
    return median_us(size, pause, [&] { return run_baseline(machine, copy); });
  });
  for (const engine::Registration& entry : engine::registrations()) {
    const bool is_mover = entry.id == engine::Id::mover;
    for (const unsigned blocks : {4u, 2u, 1u}) {
      if (!is_mover && blocks != 4) continue;
      const auto engine = open_engine(machine, entry, blocks, is_emulated);
      if (engine == nullptr) continue;
      const engine::Traits& traits = engine->traits();
      const std::size_t own = kind == HostMemory::pinned ? traits.largest_bytes : traits.largest_ordinary_bytes;
      const std::size_t limit = entry.id == engine::Id::cpu ? std::size_t{1} << 20 : own;
      const std::string name = is_mover ? std::string("mover, ") + std::to_string(blocks) + " blocks" : entry.name;
      print_row(name.c_str(), [&](std::size_t size) {
        const Copy copy = copy_of(machine, direction, kind, size);
        return size > limit ? 0 : median_us(size, pause, [&] { return run_engine(*engine, copy); });
      });
    }
  }
  engine::Engines engines(*machine.backend, "", machine.calls);
  const engine::Span span{machine.buffer->address(), machine.mapped, memory_bytes, machine.copier};
  const auto path = must(engines.open_path(span, "automatic"), "open the automatic choice");
  print_row("automatic", [&](std::size_t size) {
    const Copy copy = copy_of(machine, direction, kind, size);
    return median_us(size, pause, [&] {
      return direction == Direction::from_device ? bool(path->read(0, copy.host, size))
                                                 : bool(path->write(0, copy.host, size));
    });
  });
}

int run(bool is_emulated) {
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
        measure_rows(machine, direction, kind, pause, is_emulated);
      }
    }
  }
  const auto scope = must(machine.gpu->enter(), "enter");
  (void)machine.calls->stream_destroy(machine.stream);
  return 0;
}

}  // namespace
}  // namespace gdrkit::tests

int main(int count, char** arguments) {
  const bool is_emulated = count == 2 && std::strcmp(arguments[1], "--emulated") == 0;
  if (count > 1 && !is_emulated) {
    std::printf("usage: measure_engines [--emulated]\n");
    return 2;
  }
  return gdrkit::tests::run(is_emulated);
}
