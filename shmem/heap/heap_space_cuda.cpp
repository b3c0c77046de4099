// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Chunks are cuMemCreate's, exportable as POSIX file descriptors; each mapping is for this PE's device alone.
#include <cinttypes>
#include <new>
#include <vector>

#include "shmem/heap/heap_space.hpp"

namespace gdrkit::shmem {
namespace {

using platform::CudaMemAccessDesc;
using platform::CudaMemAllocationProp;

/// What a GPU's memory is pinned by; chunks are mapped through BAR1 too.
constexpr std::uint64_t page_bytes = 65536;

base::Status check(int result, const char* call, std::uint64_t address, std::uint64_t size_bytes) noexcept {
  if (result == 0) return {};
  constexpr int out_of_memory = 2;
  return base::fail_vendor(result == out_of_memory ? ENOMEM : EIO, result,
                           "%s of %" PRIu64 " bytes for the symmetric heap at 0x%" PRIx64 ": %s", call, size_bytes,
                           address, platform::cuda_result_name(result));
}

class CudaHeapSpace final : public HeapSpace {
 public:
  CudaHeapSpace(const platform::CudaCalls& calls, int slots, int own_slot) noexcept
      : calls_(calls), slots_(slots), own_slot_(own_slot) {}

  base::Status open(int ordinal, std::uint64_t max_bytes) noexcept {
    if (calls_.mem_import == nullptr) {
      return base::fail(ENOSYS, "this CUDA driver has no cuMemImportFromShareableHandle: it is too old for shmem");
    }
    int device = 0;
    if (auto got = check(calls_.device_get(&device, ordinal), "cuDeviceGet", 0, 0); !got) return got;
    properties_.type = platform::cuda_mem_allocation_type_pinned;
    properties_.location = {platform::cuda_mem_location_type_device, device};
    properties_.flags.gpu_direct_rdma_capable = 1;
    properties_.requested_handle_types = platform::cuda_mem_handle_type_posix_fd;
    std::size_t granularity = 0;
    auto known =
        check(calls_.mem_get_granularity(&granularity, &properties_, platform::cuda_mem_granularity_recommended),
              "cuMemGetAllocationGranularity", 0, 0);
    if (!known) return known;
    granularity_ = granularity < page_bytes ? page_bytes : granularity;
    stride_bytes_ = (max_bytes + granularity_ - 1) / granularity_ * granularity_;
    const std::uint64_t total = stride_bytes_ * static_cast<std::uint64_t>(slots_);
    auto reserved = check(calls_.mem_address_reserve(&base_, total, 0, 0, 0), "cuMemAddressReserve", 0, total);
    if (reserved) reserved_bytes_ = total;
    return reserved;
  }

  ~CudaHeapSpace() override {
    for (const Chunk& chunk : chunks_) (void)calls_.mem_unmap(chunk.address, chunk.size_bytes);
    if (reserved_bytes_ != 0) (void)calls_.mem_address_free(base_, reserved_bytes_);
  }

  [[nodiscard]] std::uint64_t granularity_bytes() const noexcept override { return granularity_; }

  base::Result<UniqueFd> create(std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    const std::uint64_t at = address(own_slot_, offset);
    std::uint64_t handle = 0;
    if (auto made = check(calls_.mem_create(&handle, size_bytes, &properties_, 0), "cuMemCreate", at, size_bytes);
        !made) {
      return base::pass(made);
    }
    int fd = -1;
    auto done = check(calls_.mem_export(&fd, handle, platform::cuda_mem_handle_type_posix_fd, 0),
                      "cuMemExportToShareableHandle", at, size_bytes);
    UniqueFd exported(done ? fd : -1);
    if (done) done = map(handle, at, size_bytes);
    // The mapping keeps the memory from here on.
    (void)calls_.mem_release(handle);
    if (!done) return base::pass(done);
    return exported;
  }

  base::Status attach(int slot, std::uint64_t offset, std::uint64_t size_bytes, UniqueFd chunk) noexcept override {
    const std::uint64_t at = address(slot, offset);
    std::uint64_t handle = 0;
    auto* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(chunk.get()));
    if (auto got = check(calls_.mem_import(&handle, descriptor, platform::cuda_mem_handle_type_posix_fd),
                         "cuMemImportFromShareableHandle", at, size_bytes);
        !got) {
      return got;
    }
    auto done = map(handle, at, size_bytes);
    (void)calls_.mem_release(handle);
    return done;
  }

  base::Status remove(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    const std::uint64_t at = address(slot, offset);
    std::erase_if(chunks_, [=](const Chunk& chunk) { return chunk.address == at; });
    return check(calls_.mem_unmap(at, size_bytes), "cuMemUnmap", at, size_bytes);
  }

 private:
  struct Chunk {
    std::uint64_t address;
    std::uint64_t size_bytes;
  };

  base::Status map(std::uint64_t handle, std::uint64_t at, std::uint64_t size_bytes) noexcept try {
    chunks_.reserve(chunks_.size() + 1);
    if (auto mapped = check(calls_.mem_map(at, size_bytes, 0, handle, 0), "cuMemMap", at, size_bytes); !mapped) {
      return mapped;
    }
    const CudaMemAccessDesc access{properties_.location, platform::cuda_mem_access_read_write};
    auto accessible = check(calls_.mem_set_access(at, size_bytes, &access, 1), "cuMemSetAccess", at, size_bytes);
    if (accessible) {
      chunks_.push_back({at, size_bytes});
    } else {
      (void)calls_.mem_unmap(at, size_bytes);
    }
    return accessible;
  } catch (const std::bad_alloc&) {
    return base::fail_literal(ENOMEM, "out of memory while the symmetric heap grew");
  }

  const platform::CudaCalls& calls_;
  const int slots_;
  const int own_slot_;
  CudaMemAllocationProp properties_;
  std::uint64_t granularity_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::vector<Chunk> chunks_;
};

}  // namespace

base::Result<std::unique_ptr<HeapSpace>> reserve_on_gpu(platform::Device& device, int slots, int own_slot,
                                                        std::uint64_t max_bytes,
                                                        const platform::CudaCalls& calls) noexcept try {
  auto space = std::make_unique<CudaHeapSpace>(calls, slots, own_slot);
  if (auto opened = space->open(device.identity().ordinal, max_bytes); !opened) return base::pass(opened);
  return space;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while the symmetric heap was reserved");
}

}  // namespace gdrkit::shmem
