// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The allocator behind gdrkit.shmem.torch.pool(), with the signatures of torch.cuda.memory.CUDAPluggableAllocator.
#include <gdrkit/shmem.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdio>

namespace {

constexpr std::size_t alignment_bytes = 512;  // PyTorch places tensors at multiples of this

void* refuse(const char* why) {
  // PyTorch reports every failure as out of memory, without the reason.
  (void)std::fprintf(stderr, "gdrkit: PyTorch memory pool: %s\n", why);
  return nullptr;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void* gdrkit_shmem_torch_allocate(ssize_t size_bytes, int device, void* stream) {
  (void)stream;
  gdrkit_shmem_info info{};
  info.struct_size = sizeof info;
  if (gdrkit_shmem_get_info(&info) != 0) return refuse(gdrkit_shmem_last_error());
  if (info.device != device)
    return refuse(
        "cannot allocate symmetric memory: the current GPU is not the GPU of this PE; call torch.cuda.set_device");
  void* address = nullptr;
  const int result = gdrkit_shmem_align(alignment_bytes, static_cast<std::size_t>(size_bytes), &address);
  return result == 0 ? address : refuse(gdrkit_shmem_last_error());
}

/// PyTorch returns segments when its garbage collector runs, at different times on each PE. Freeing is collective, so
/// the segment remains allocated until the PE is finalized.
[[gnu::visibility("default")]] void gdrkit_shmem_torch_release(void* address, ssize_t size_bytes, int device,
                                                               void* stream) {
  (void)address, (void)size_bytes, (void)device, (void)stream;
}
}
