// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Launches of GPU kernels that programs name by the address of their host stub. Only the CUDA runtime of the program
// can translate that address, so it must be a shared library.
#include <dlfcn.h>
#include <nvshmem.h>

#include <cstdio>

namespace {

/// dim3 of CUDA's headers.
struct Shape {
  unsigned x, y, z;
  [[nodiscard]] unsigned count() const noexcept { return x * y * z; }
};
/// The members of cudaLaunchConfig_t that are used.
struct LaunchConfig {
  Shape grid, block;
  size_t shared_bytes;
  void* stream;
};

/// nullptr: the reason is printed.
void* kernel_of(const void* stub) noexcept {
  using GetFunction = int (*)(void**, const void*);
  static const auto get_function = reinterpret_cast<GetFunction>(dlsym(RTLD_DEFAULT, "cudaGetFuncBySymbol"));
  void* kernel = nullptr;
  if (get_function == nullptr) {
    std::fputs(
        "nvshmemx_collective_launch: cannot find the GPU kernel: the process has not loaded libcudart.so; link with "
        "nvcc -cudart shared\n",
        stderr);
  } else if (const int status = get_function(&kernel, stub); status != 0) {
    std::fprintf(stderr, "nvshmemx_collective_launch: cannot find the GPU kernel: CUDA error %d\n", status);
    kernel = nullptr;
  }
  return kernel;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
int nvshmemx_collective_launch_query_gridsize(const void* stub, Shape block, void** arguments, size_t shared_bytes,
                                              int* grid_size);
int nvshmemx_collective_launch(const void* stub, Shape grid, Shape block, void** arguments, size_t shared_bytes,
                               void* stream);
int nvshmemx_collective_launch_attr(const LaunchConfig* config, const void* stub, void** arguments);
}
#pragma GCC visibility pop

int nvshmemx_collective_launch_query_gridsize(const void* stub, Shape block, void** /*arguments*/, size_t shared_bytes,
                                              int* grid_size) {
  void* const kernel = kernel_of(stub);
  if (kernel == nullptr || grid_size == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  const int blocks = gdrkit_nvshmem_report(gdrkit_shmem_collective_grid(kernel, block.count(), shared_bytes),
                                           "nvshmemx_collective_launch_query_gridsize");
  if (blocks < 0) return NVSHMEMX_ERROR_INVALID_VALUE;
  *grid_size = blocks;
  return NVSHMEMX_SUCCESS;
}

int nvshmemx_collective_launch(const void* stub, Shape grid, Shape block, void** arguments, size_t shared_bytes,
                               void* stream) {
  void* const kernel = kernel_of(stub);
  if (kernel == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  unsigned blocks[3] = {grid.x, grid.y, grid.z};
  if (grid.count() == 0) {  // as many as run at once
    int most = 0;
    const int status = nvshmemx_collective_launch_query_gridsize(stub, block, arguments, shared_bytes, &most);
    if (status != NVSHMEMX_SUCCESS) return status;
    blocks[0] = static_cast<unsigned>(most);
    blocks[1] = blocks[2] = 1;
  }
  const unsigned threads[3] = {block.x, block.y, block.z};
  return gdrkit_nvshmem_report(gdrkit_shmem_collective_launch(kernel, blocks, threads, shared_bytes, stream, arguments),
                               "nvshmemx_collective_launch");
}

int nvshmemx_collective_launch_attr(const LaunchConfig* config, const void* stub, void** arguments) {
  if (config == nullptr) return NVSHMEMX_ERROR_INVALID_VALUE;
  return nvshmemx_collective_launch(stub, config->grid, config->block, arguments, config->shared_bytes, config->stream);
}
