// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bandwidth/gate.hpp"

#include <atomic>
#include <string>
#include <thread>

#include "cli/interface/demand.hpp"
#include "platform/gpu_code/copy_params.hpp"
#include "platform/gpu_code/gate_params.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::bandwidth {
namespace {

constexpr std::size_t most_streams = 256;
constexpr std::size_t first_end = 16;  // the flag has its own cache line

std::uint32_t load(std::uint32_t* word) { return std::atomic_ref(*word).load(std::memory_order_acquire); }
void store(std::uint32_t* word, std::uint32_t value) { std::atomic_ref(*word).store(value, std::memory_order_release); }

}  // namespace

Gate::Gate(Gpus* gpus, std::uint64_t limit_ns)
    : gpus_(*gpus),
      memory_(cli::demand(gpus->current(0).allocate(platform::AllocationKind::host,
                                                    (first_end + most_streams) * sizeof(std::uint32_t)))),
      limit_ns_(limit_ns) {
  // A driver that loads GPU code at its first launch waits for the device, which would deadlock behind a gate.
  // Therefore all code is launched once without work.
  store(words(), 1);
  for (int gpu = 0; gpu < gpus_.count(); ++gpu) {
    if (!gpus_[gpu].kernels.has_value()) continue;
    hold(gpu, platform::Stream{});
    cli::demand(gpus_.kernels(gpu).launch(platform::CopyParameters{}, {1, 1}, platform::Stream{}));
    cli::demand(gpus_.current(gpu).synchronize(platform::Stream{}));
  }
  check();
  reset();
}

Gate::~Gate() { open(); }

void Gate::reset() {
  held_ = 0;
  store(words(), 0);
}

void Gate::hold(int gpu, platform::Stream stream) {
  if (held_ == most_streams)
    cli::fail("cannot start copies in more than " + std::to_string(most_streams) +
              " streams at the same time; use fewer GPUs (CUDA_VISIBLE_DEVICES)");
  std::uint32_t* end = words() + first_end + held_++;
  store(end, static_cast<std::uint32_t>(platform::KernelEnd::running));
  platform::Device& device = gpus_.current(gpu);
  if (!gpus_[gpu].kernels.has_value()) {
    store(end, static_cast<std::uint32_t>(platform::KernelEnd::finished));
    cli::demand(device.launch_host_function(stream, &Gate::wait, this));
    return;
  }
  platform::GateParameters parameters{};
  parameters.flag = cli::demand(device.device_address(words()));
  parameters.end = parameters.flag + static_cast<std::uint64_t>(end - words()) * sizeof(std::uint32_t);
  parameters.limit_ns = limit_ns_;
  cli::demand(gpus_.kernels(gpu).launch(parameters, {1, 1}, stream));
}

void Gate::wait(void* gate) {
  const auto* self = static_cast<const Gate*>(gate);
  std::uint32_t* ends = self->words() + first_end;
  const std::int64_t begin = platform::now_ns();
  while (load(self->words()) == 0) {
    std::this_thread::yield();
    if (platform::now_ns() - begin < static_cast<std::int64_t>(self->limit_ns_)) continue;
    // It does not matter which stream timed out: one makes all invalid.
    store(ends, static_cast<std::uint32_t>(platform::KernelEnd::expired));
    return;
  }
}

// Pairs with the GPU kernels' acquire of the flag. No other data is ordered by it.
void Gate::open() { store(words(), 1); }

void Gate::check() const {
  for (std::size_t number = 0; number < held_; ++number) {
    if (load(words() + first_end + number) == static_cast<std::uint32_t>(platform::KernelEnd::finished)) continue;
    cli::fail("the measurement is invalid: the copies were not enqueued in time; measure again on an idle CPU");
  }
}

}  // namespace gdrkit::measure::bandwidth
