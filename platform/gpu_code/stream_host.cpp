// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernels `stream_signal`, `stream_value` and `stream_wait`.
#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/stream_params.hpp"
#include "platform/gpu_code/stream_work.cuh"

namespace gdrkit::platform {
namespace {

/// stream_signal and stream_wait use one thread.
base::Status check_one_thread(const char* kernel, LaunchShape shape) noexcept {
  if (shape.blocks * shape.threads == 1) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel '%s': %u blocks of %u threads are too many; use one thread",
                    kernel, shape.blocks, shape.threads);
}

base::Status check(const StreamSignal& signal, LaunchShape shape, unsigned) noexcept {
  if (auto checked = check_one_thread("stream_signal", shape); !checked) return checked;
  if (signal.address == 0 || signal.address % sizeof(std::uint64_t) != 0) {
    return base::fail(
        EINVAL, "cannot launch GPU kernel 'stream_signal': invalid address 0x%llx; use a nonzero multiple of 8 bytes",
        static_cast<unsigned long long>(signal.address));
  }
  if (signal.operation == GDRKIT_SHMEM_SIGNAL_SET || signal.operation == GDRKIT_SHMEM_SIGNAL_ADD) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel 'stream_signal': unknown signal operation %u", signal.operation);
}

void play(const StreamSignal& signal, LaunchShape) noexcept { update_signal(signal); }

base::Status check(const StreamValueParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (shape.blocks != 1)
    return base::fail(EINVAL, "cannot launch GPU kernel 'stream_value': %u blocks are too many; use one block",
                      shape.blocks);
  if (parameters.size_bytes <= sizeof parameters.words) return {};
  return base::fail(EINVAL, "cannot launch GPU kernel 'stream_value': %llu bytes are too many; use at most %zu bytes",
                    static_cast<unsigned long long>(parameters.size_bytes), sizeof parameters.words);
}

void play(const StreamValueParameters& parameters, LaunchShape) noexcept {
  for (unsigned at = 0; at < parameters.size_bytes; at += 8) {
    const auto left = static_cast<unsigned>(parameters.size_bytes) - at;
    store_bytes(parameters.target + at, parameters.words[at / 8], left < 8 ? left : 8);
  }
}

base::Status check(const StreamWaitParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (auto checked = check_one_thread("stream_wait", shape); !checked) return checked;
  const int size = parameters.word < 0 ? -parameters.word : parameters.word;
  if ((size != 2 && size != 4 && size != 8) || parameters.comparison > GDRKIT_SHMEM_GE) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'stream_wait': unknown word type or comparison");
  }
  if (parameters.address != 0 && parameters.address % static_cast<unsigned>(size) == 0) return {};
  return base::fail(
      EINVAL, "cannot launch GPU kernel 'stream_wait': invalid address 0x%llx; use a nonzero multiple of %d bytes",
      static_cast<unsigned long long>(parameters.address), size);
}

void play(const StreamWaitParameters& parameters, LaunchShape) noexcept { (void)stream_wait(parameters); }

}  // namespace

base::Status GpuKernels::launch(const StreamSignal& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_signal>(parameters, shape, stream, check, play);
}

base::Status GpuKernels::launch(const StreamValueParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_value>(parameters, shape, stream, check, play);
}

base::Status GpuKernels::launch(const StreamWaitParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::stream_wait>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
