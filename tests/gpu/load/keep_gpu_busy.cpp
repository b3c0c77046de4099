// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Runs a command while this process occupies every multiprocessor of every GPU; exits with the command's code. GPU
// kernels of two processes are time-sliced on a GPU.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "platform/gpu_code/burn_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"

extern char** environ;

namespace gdrkit::tests {
namespace {

using platform::AllocationKind;
using platform::Device;

constexpr std::size_t scratch_bytes = std::size_t{64} << 20;
constexpr std::uint64_t launch_ns = 50'000'000;
constexpr unsigned threads_in_block = 512;
constexpr unsigned blocks_on_multiprocessor = 4;  // 2048 threads fill one

template <class T>
T must(base::Result<T> result, const char* step) {
  if (!result) {
    std::fprintf(stderr, "keep_gpu_busy: cannot %s: %s\n", step, result.error().text());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Launches until is_over, and counts the launches that have ended.
void burn(Device& device, const std::atomic<bool>& is_over, std::atomic<unsigned>& launches) {
  const platform::DeviceScope scope(device);
  must(scope.status(), "use the GPU");
  auto kernels = must(platform::GpuKernels::load<platform::GpuKernel::burn>(device), "load the GPU kernel");
  const std::size_t bytes = device.is_emulated() ? scratch_bytes / 64 : scratch_bytes;
  auto scratch = must(device.allocate(AllocationKind::cuda_malloc, bytes + sizeof(std::uint64_t)), "allocate memory");
  auto words = must(device.allocate(AllocationKind::host, 2 * sizeof(std::uint32_t)), "allocate host memory");
  auto* const stop = reinterpret_cast<std::uint32_t*>(words.address());
  std::memset(stop, 0, 2 * sizeof *stop);
  const std::uint64_t words_on_device = must(device.device_address(stop), "map host memory");
  const platform::Stream stream = must(device.create_stream(), "create a stream");
  platform::BurnParameters parameters{};
  parameters.stop = words_on_device;
  parameters.end = words_on_device + sizeof *stop;
  parameters.scratch = scratch.address();
  parameters.scratch_bytes = bytes;
  parameters.passes = scratch.address() + bytes;
  parameters.limit_ns = launch_ns;
  const unsigned blocks = kernels.resident_blocks() * (device.is_emulated() ? 1 : blocks_on_multiprocessor);
  while (!is_over) {
    for (int ahead = 0; ahead < 2; ++ahead) {  // so that the GPU does not pause between the two
      must(kernels.launch(parameters, {blocks, threads_in_block}, stream), "launch the GPU kernel");
    }
    must(device.synchronize(stream), "wait for the GPU kernel");
    launches += 2;
  }
  must(device.destroy_stream(stream), "destroy the stream");
}

int run(char** command) {
  const char* const backend = std::getenv("GDRKIT_BACKEND");
  const bool is_emulated = backend != nullptr && std::strcmp(backend, "emulated") == 0;
  const auto count = is_emulated ? base::Result<int>(1) : platform::cuda_device_count();
  if (!count || *count == 0) {
    std::printf("no GPU found%s%s\n", count ? "" : ": ", count ? "" : count.error().text());
    return 77;
  }
  std::vector<std::unique_ptr<Device>> devices;
  for (int number = 0; number < *count; ++number) {
    devices.push_back(
        must(is_emulated ? platform::open_emulated_device(0) : platform::open_cuda_device(number), "open"));
  }
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> launches{0};
  std::vector<std::thread> threads;
  for (const auto& device : devices) threads.emplace_back([&] { burn(*device, is_over, launches); });
  pid_t child = -1;
  int status = 1 << 8;
  const int error = ::posix_spawnp(&child, command[0], nullptr, nullptr, command, environ);
  if (error != 0) std::fprintf(stderr, "keep_gpu_busy: cannot start %s: %s\n", command[0], std::strerror(error));
  if (error == 0) (void)::waitpid(child, &status, 0);
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("kept %d GPUs busy by %u launches of %llu ms\n", *count, launches.load(), launch_ns / 1'000'000ULL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace
}  // namespace gdrkit::tests

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: keep_gpu_busy COMMAND [ARGUMENT...]\n");
    return 2;
  }
  return gdrkit::tests::run(arguments + 1);
}
