// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/stream/stream_work.hpp"

#include <algorithm>
#include <cstring>

namespace gdrkit::shmem {
namespace {

using platform::LaunchShape;
using platform::Stream;
using platform::StreamSignal;

/// Up to so many bytes a GPU kernel copies between GPUs faster than a copy engine: it starts in less than half of the
/// time, and a few blocks move 64 KiB in 3 us.
constexpr std::size_t largest_by_gpu_kernel = 65536;
constexpr unsigned most_threads_of_copy = 512;
constexpr unsigned bytes_of_a_thread = 16;  // one word of the widest kind

std::uint64_t as_address(const void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

/// Of a block: one thread for each 16 bytes.
unsigned threads_for(std::size_t size_bytes) noexcept {
  constexpr unsigned warp = 32;
  const std::size_t threads = (size_bytes + bytes_of_a_thread - 1) / bytes_of_a_thread;
  const std::size_t whole_warps = (threads + warp - 1) / warp * warp;
  return static_cast<unsigned>(std::clamp<std::size_t>(whole_warps, warp, most_threads_of_copy));
}

LaunchShape shape_for(std::size_t size_bytes, bool is_one_block) noexcept {
  constexpr std::size_t block_bytes = std::size_t{most_threads_of_copy} * bytes_of_a_thread;
  const std::size_t blocks = is_one_block ? 1 : (size_bytes + block_bytes - 1) / block_bytes;
  return {static_cast<unsigned>(std::max<std::size_t>(blocks, 1)), threads_for(size_bytes)};
}

}  // namespace

base::Status StreamWork::put(Stream stream, std::uint64_t target, const void* source, std::size_t size_bytes,
                             LocalMemory memory, const StreamSignal& signal) noexcept {
  if (memory == LocalMemory::heap && size_bytes <= largest_by_gpu_kernel) {
    return copy(stream, target, as_address(source), size_bytes, signal);
  }
  if (memory == LocalMemory::host && size_bytes <= inline_bytes) {
    // A graph must read the source each time that it is launched.
    const auto is_captured = device_.is_capturing(stream);
    if (is_captured && !*is_captured) return put_value(stream, target, source, size_bytes, signal);
  }
  const bool is_host = memory == LocalMemory::host || memory == LocalMemory::pinned;
  auto given = is_host ? device_.copy_to_device_async(target, source, size_bytes, stream)
                       : device_.copy_on_device_async(target, as_address(source), size_bytes, stream);
  return given && signal.address != 0 ? this->signal(stream, signal) : given;
}

base::Status StreamWork::put_value(Stream stream, std::uint64_t target, const void* value, std::size_t size_bytes,
                                   const StreamSignal& signal) noexcept {
  platform::StreamValueParameters parameters;
  parameters.target = target;
  parameters.size_bytes = size_bytes;
  parameters.signal = signal;
  std::memcpy(parameters.words, value, size_bytes);
  // One thread for each word of 8 bytes.
  return gpu_kernels_.launch(parameters, {1, threads_for(2 * size_bytes)}, stream);
}

base::Status StreamWork::get(Stream stream, void* target, std::uint64_t source, std::size_t size_bytes,
                             LocalMemory memory) noexcept {
  if (memory == LocalMemory::heap && size_bytes <= largest_by_gpu_kernel) {
    return copy(stream, as_address(target), source, size_bytes, {});
  }
  if (memory == LocalMemory::host || memory == LocalMemory::pinned) {
    return device_.copy_to_host_async(target, source, size_bytes, stream);
  }
  return device_.copy_on_device_async(as_address(target), source, size_bytes, stream);
}

base::Status StreamWork::copy(Stream stream, std::uint64_t target, std::uint64_t source, std::size_t size_bytes,
                              const StreamSignal& signal) noexcept {
  platform::StreamCopyParameters parameters{};
  parameters.target = target;
  parameters.source = source;
  parameters.size_bytes = size_bytes;
  parameters.signal = signal;
  return gpu_kernels_.launch(parameters, shape_for(size_bytes, signal.address != 0), stream);
}

base::Status StreamWork::signal(Stream stream, const StreamSignal& signal) noexcept {
  platform::StreamCopyParameters parameters{};
  parameters.signal = signal;
  return gpu_kernels_.launch(parameters, {1, 1}, stream);
}

base::Status StreamWork::wait(Stream stream, const platform::StreamWaitParameters& parameters) noexcept {
  return gpu_kernels_.launch(parameters, {1, 1}, stream);
}

}  // namespace gdrkit::shmem
