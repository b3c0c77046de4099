// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `ping_pong`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/ping_pong_params.hpp"

namespace gdrkit::platform {
namespace {

base::Status check(const PingPongParameters& parameters, LaunchShape shape, unsigned resident_blocks) noexcept {
  if (parameters.data_bytes % 4 != 0) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'ping_pong': invalid data size of %llu bytes; use a multiple of 4 bytes",
        static_cast<unsigned long long>(parameters.data_bytes));
  }
  if (parameters.data == 0 && parameters.data_bytes != 0)
    return base::fail(EINVAL, "cannot launch GPU kernel 'ping_pong': the address of the data is 0");
  if (shape.blocks > resident_blocks) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'ping_pong': %u blocks are too many; use at most %u",
                      shape.blocks, resident_blocks);
  }
  const std::uint64_t last = std::uint64_t{parameters.first} + parameters.rounds;
  if (last > stop_word)
    return base::fail(EINVAL, "cannot launch GPU kernel 'ping_pong': the number of rounds is too large");
  return {};
}

static KernelEnd play_rounds(const PingPongParameters& parameters, PingPongState* state, LaunchShape shape) noexcept {
  auto* data = reinterpret_cast<volatile std::uint32_t*>(parameters.data);
  const std::uint64_t words = parameters.data_bytes / sizeof(std::uint32_t);
  for (std::uint32_t round = 0; round < parameters.rounds; ++round) {
    const std::uint32_t value = parameters.first + round;
    const auto reply = [&] {
      if (words != 0 && shape.blocks > 1) state->arrivals += shape.blocks;
      store_release(parameters.pong, value);
    };
    if (parameters.is_gpu_first != 0) {
      for (std::uint64_t at = 0; at < words; ++at) data[at] = value;
      reply();
    }
    const KernelEnd end =
        wait_for(load_acquire, parameters.ping, parameters.limit_ns, [=](std::uint32_t word) { return word == value; });
    if (end != KernelEnd::running) return end;
    if (parameters.is_gpu_first == 0) {
      for (std::uint64_t at = 0; at < words; ++at) state->mismatches += data[at] != value ? 1 : 0;
      reply();
    }
  }
  return KernelEnd::finished;
}

void play(const PingPongParameters& parameters, LaunchShape shape) noexcept {
  auto* state = reinterpret_cast<PingPongState*>(parameters.state);
  const std::int64_t begin = now_ns();
  const KernelEnd end = play_rounds(parameters, state, shape);
  state->elapsed_ns = static_cast<std::uint64_t>(now_ns() - begin);
  report_end(parameters.end, end);
}

}  // namespace

base::Status GpuKernels::launch(const PingPongParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::ping_pong>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
