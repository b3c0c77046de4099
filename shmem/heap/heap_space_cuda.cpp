// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Chunks are cuMemCreate's, exportable as POSIX file descriptors; each mapping is for this PE's device alone.
#include <cinttypes>
#include <new>
#include <vector>

#include "shmem/heap/block_list.hpp"
#include "shmem/heap/heap_space.hpp"

namespace gdrkit::shmem_impl::heap {
namespace {

using platform::CudaMemAccessDesc;
using platform::CudaMemAllocationProp;

/// What a GPU's memory is pinned by; chunks are mapped through BAR1 too.
constexpr std::uint64_t page_bytes = 65536;

base::Status check(int result, const char* call, std::uint64_t address, std::uint64_t size_bytes) noexcept {
  if (result == 0) return {};
  constexpr int out_of_memory = 2;
  const int errno_value = result == out_of_memory ? ENOMEM : EIO;
  const char* const name = platform::cuda_result_name(result);
  if (size_bytes == 0) {
    return base::fail_vendor(errno_value, result, "cannot set up symmetric memory: %s failed: %s", call, name);
  }
  return base::fail_vendor(errno_value, result,
                           "cannot set up symmetric memory: %s of %" PRIu64 " bytes at 0x%" PRIx64 " failed: %s", call,
                           size_bytes, address, name);
}

class CudaHeapSpace final : public HeapSpace {
 public:
  CudaHeapSpace(const platform::CudaCalls& calls, int slots, int own_slot) noexcept
      : calls_(calls), slots_(slots), own_slot_(own_slot) {}

  base::Status open(int ordinal, std::uint64_t max_bytes) noexcept {
    if (calls_.mem_import == nullptr) {
      return base::fail(ENOSYS,
                        "cannot share a symmetric heap: the CUDA driver has no cuMemImportFromShareableHandle; install "
                        "a newer driver");
    }
    ordinal_ = ordinal;
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
    stride_bytes_ = round_up(max_bytes, slot_alignment);
    // Align here, because CUDA does not document the alignments that it supports.
    const std::uint64_t total = stride_bytes_ * static_cast<std::uint64_t>(slots_) + slot_alignment;
    auto reserved = check(calls_.mem_address_reserve(&reserved_, total, 0, 0, 0), "cuMemAddressReserve", 0, total);
    if (!reserved) return reserved;
    reserved_bytes_ = total;
    base_ = round_up(reserved_, slot_alignment);
    return {};
  }

  ~CudaHeapSpace() override {
    for (const Chunk& chunk : chunks_) (void)calls_.mem_unmap(chunk.address, chunk.size_bytes);
    if (reserved_bytes_ != 0) (void)calls_.mem_address_free(reserved_, reserved_bytes_);
  }

  [[nodiscard]] std::uint64_t granularity_bytes() const noexcept override { return granularity_; }

  base::Result<base::UniqueFd> create(std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    const std::uint64_t at = address(own_slot_, offset);
    std::uint64_t handle = 0;
    if (auto made = check(calls_.mem_create(&handle, size_bytes, &properties_, 0), "cuMemCreate", at, size_bytes);
        !made) {
      return base::pass(made);
    }
    int fd = -1;
    auto done = check(calls_.mem_export(&fd, handle, platform::cuda_mem_handle_type_posix_fd, 0),
                      "cuMemExportToShareableHandle", at, size_bytes);
    base::UniqueFd exported(done ? fd : -1);
    if (done) done = map(handle, at, size_bytes);
    // The mapping keeps the memory from here on.
    (void)calls_.mem_release(handle);
    if (!done) return base::pass(done);
    return exported;
  }

  base::Status attach(int slot, std::uint64_t offset, std::uint64_t size_bytes,
                      base::UniqueFd chunk) noexcept override {
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

  base::Result<SharedMemory> share(std::uint64_t address, std::uint64_t size_bytes) noexcept override {
    std::uint64_t start = 0;
    std::size_t extent = 0;
    if (auto owned = check_owner(address); !owned) return base::pass(owned);
    if (const int got = calls_.mem_get_address_range(&start, &extent, address); got != 0) {
      return base::fail_vendor(EINVAL, got,
                               "cannot register 0x%" PRIx64
                               ": cuMemGetAddressRange failed: %s; pass memory that CUDA allocated",
                               address, platform::cuda_result_name(got));
    }
    if (start != address || size_bytes > extent) {
      return base::fail(EINVAL,
                        "cannot register %" PRIu64 " bytes at 0x%" PRIx64 ": the allocation begins at 0x%" PRIx64
                        " and has %zu bytes; register the allocation from the start",
                        size_bytes, address, start, extent);
    }
    std::uint64_t handle = 0;
    if (const int got = calls_.mem_retain_handle(&handle, reinterpret_cast<void*>(address)); got != 0) {
      return unshareable(address, "cuMemCreate did not allocate the memory", got);
    }
    int fd = -1;
    const int exported = calls_.mem_export(&fd, handle, platform::cuda_mem_handle_type_posix_fd, 0);
    (void)calls_.mem_release(handle);
    if (exported != 0) {
      return unshareable(address, "CUDA cannot export the memory", exported);
    }
    return SharedMemory{base::UniqueFd(fd), extent};
  }

  base::Status attach_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes,
                             base::UniqueFd memory) noexcept override {
    return attach(slot, offset, size_bytes, std::move(memory));
  }
  base::Status remove_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    return remove(slot, offset, size_bytes);
  }

 private:
  static tl::unexpected<base::Error> unshareable(std::uint64_t address, const char* why, int vendor_code) noexcept {
    return base::fail_vendor(
        EOPNOTSUPP, vendor_code,
        "cannot share the memory at 0x%" PRIx64
        ": %s (%s); use gdrkit_shmem_malloc, or cuMemCreate with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR",
        address, why, platform::cuda_result_name(vendor_code));
  }

  /// Only memory of this PE's device: transfers to the slot take it for that.
  base::Status check_owner(std::uint64_t address) noexcept {
    unsigned type = 0;
    int ordinal = -1;
    int attributes[] = {platform::cuda_pointer_attribute_memory_type, platform::cuda_pointer_attribute_device_ordinal};
    void* values[] = {&type, &ordinal};
    const int got = calls_.pointer_get_attributes(2, attributes, values, address);
    if (got != 0 || type != platform::cuda_memory_type_device) {
      return base::fail_vendor(
          EOPNOTSUPP, got,
          "cannot share the memory at 0x%" PRIx64 ": the memory is host memory; use gdrkit_shmem_malloc", address);
    }
    if (ordinal == ordinal_) return {};
    return base::fail(EINVAL, "cannot register 0x%" PRIx64 ": the memory is on GPU %d, but this PE uses GPU %d",
                      address, ordinal, ordinal_);
  }

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
    return base::fail_literal(ENOMEM, "out of memory while growing the symmetric heap");
  }

  const platform::CudaCalls& calls_;
  const int slots_;
  const int own_slot_;
  int ordinal_ = 0;
  CudaMemAllocationProp properties_;
  std::uint64_t granularity_ = 0;
  std::uint64_t reserved_ = 0;
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
  return base::fail_literal(ENOMEM, "out of memory while reserving the symmetric heap");
}

}  // namespace gdrkit::shmem_impl::heap
