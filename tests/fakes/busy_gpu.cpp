// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/busy_gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "engine/mover/mover_code.hpp"
#include "fakes/emulated_cuda.hpp"

namespace gdrkit::fakes {
namespace {

using engine::mover::Parameters;
using engine::mover::Status;

/// Returns whether this call is among the next `count`.
bool takes(std::atomic<int>& count) noexcept {
  int left = count.load();
  while (left > 0 && !count.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}

void report(const Parameters& parameters, unsigned blocks, bool has_ended) noexcept {
  for (unsigned block = 0; block < blocks; ++block) {
    auto* const word = reinterpret_cast<std::uint64_t*>(parameters.status) + block;
    const Status status{parameters.first_tag - 1, parameters.launch, has_ended};
    std::atomic_ref(*word).store(status.word(), std::memory_order_release);
  }
}

int launch(void*, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream,
           void** list, void**) {
  BusyGpu& busy = busy_gpu();
  ++busy.launches;
  if (takes(busy.refused_launches)) return busy.refusal;
  Parameters parameters;
  std::memcpy(&parameters, list[0], sizeof parameters);
  const BusyGpu::Time delay = busy.delay;
  const bool is_late = takes(busy.late_launches);
  const bool is_suspended = !is_late && takes(busy.suspended_launches);
  const bool ends = busy.ends_when_resumed;
  enqueue_in_stream(stream, [=] {
    if (is_suspended) report(parameters, blocks, false);
    if (is_late || is_suspended) std::this_thread::sleep_for(delay);
    if (is_suspended && ends) {
      report(parameters, blocks, true);
    } else {
      play_mover_blocks(blocks, &parameters);
    }
  });
  return 0;
}

void delay_copy(void* stream) {
  if (!takes(busy_gpu().late_copies)) return;
  const BusyGpu::Time delay = busy_gpu().delay;
  enqueue_in_stream(stream, [=] { std::this_thread::sleep_for(delay); });
}

}  // namespace

void BusyGpu::reset() noexcept {
  for (std::atomic<int>* count : {&refused_launches, &late_launches, &suspended_launches, &late_copies, &launches}) {
    *count = 0;
  }
  refusal = 701;
  ends_when_resumed = false;
  delay = Time(0);
}

BusyGpu& busy_gpu() noexcept {
  static BusyGpu busy;
  return busy;
}

const driver::CudaCalls& busy_emulated_cuda() noexcept {
  static const driver::CudaCalls calls = [] {
    driver::CudaCalls made = emulated_cuda();
    made.launch_kernel = &launch;
    made.memcpy_device_to_host_async = [](void* target, std::uint64_t source, std::size_t size, void* stream) {
      delay_copy(stream);
      return emulated_cuda().memcpy_device_to_host_async(target, source, size, stream);
    };
    made.memcpy_host_to_device_async = [](std::uint64_t target, const void* source, std::size_t size, void* stream) {
      delay_copy(stream);
      return emulated_cuda().memcpy_host_to_device_async(target, source, size, stream);
    };
    return made;
  }();
  return calls;
}

}  // namespace gdrkit::fakes
