// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One memory file per PE, with the heap's maximum size: pages that are not written use no memory. Chunks are parts of
// the file. The first chunk maps all of it, so the emulated device and backend see one allocation.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <new>
#include <vector>

#include "platform/device/emulated_memory.hpp"
#include "shmem/heap/block_list.hpp"
#include "shmem/heap/heap_space.hpp"

namespace gdrkit::shmem_impl::heap {
namespace {

constexpr std::uint64_t granularity = std::uint64_t{2} << 20;  // as current GPUs report

void* as_pointer(std::uint64_t address) noexcept { return reinterpret_cast<void*>(address); }

class EmulatedHeapSpace final : public HeapSpace {
 public:
  EmulatedHeapSpace(platform::Device& device, int slots, int own_slot)
      : device_(device), own_slot_(own_slot), is_mapped_(static_cast<std::size_t>(slots)) {}

  base::Status open(std::uint64_t max_bytes) noexcept {
    size_bytes_ = round_up(max_bytes, granularity);
    // Room for the inaccessible pages before and after each heap.
    stride_bytes_ = round_up(size_bytes_ + granularity, slot_alignment);
    const std::uint64_t total = stride_bytes_ * is_mapped_.size() + 2 * slot_alignment;
    void* const reserved = ::mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
      return base::fail(ENOMEM,
                        "cannot reserve %" PRIu64
                        " bytes of address space for %zu symmetric heaps: %s; reduce GDRKIT_SHMEM_HEAP_MAX",
                        total, is_mapped_.size(), std::strerror(errno));
    }
    reserved_ = reserved;
    reserved_bytes_ = total;
    const auto first = reinterpret_cast<std::uint64_t>(reserved) + platform::emulated_page_bytes;
    // Aligned as on a GPU: what is aligned in the heap is aligned in the address space.
    base_ = round_up(first, slot_alignment);
    return {};
  }

  ~EmulatedHeapSpace() override {
    if (reserved_ != nullptr) ::munmap(reserved_, reserved_bytes_);
  }

  [[nodiscard]] std::uint64_t granularity_bytes() const noexcept override { return granularity; }

  base::Result<base::UniqueFd> create(std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    const auto memory = device_.memory();
    if (memory && size_bytes > memory->free_bytes) {
      return base::fail(ENOMEM,
                        "cannot grow the symmetric heap by %" PRIu64
                        " bytes: this machine has only %zu bytes of free memory; allocate less",
                        size_bytes, memory->free_bytes);
    }
    if (file_.get() < 0) {
      auto file = platform::emulated_create_shared(size_bytes_);
      if (!file) return base::pass(file);
      file_ = base::UniqueFd(*file);
    }
    (void)offset;
    if (auto mapped = map(own_slot_, file_.get()); !mapped) return base::pass(mapped);
    base::UniqueFd handed(::dup(file_.get()));
    if (handed.get() < 0) {
      return base::fail(errno, "cannot share the symmetric heap: %s; raise ulimit -n", std::strerror(errno));
    }
    return handed;
  }

  base::Status attach(int slot, std::uint64_t, std::uint64_t, base::UniqueFd chunk) noexcept override {
    return map(slot, chunk.get());
  }

  base::Status remove(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    if (slot == own_slot_) (void)::madvise(as_pointer(address(slot, offset)), size_bytes, MADV_REMOVE);
    return {};
  }

  base::Result<SharedMemory> share(std::uint64_t address, std::uint64_t size_bytes) noexcept override {
    auto allocation = platform::emulated_find(address);
    if (!allocation) {
      return base::fail(EOPNOTSUPP, "%s; use gdrkit_shmem_malloc", allocation.error().text());
    }
    if (allocation->start != address || size_bytes > allocation->size_bytes) {
      return base::fail(EINVAL,
                        "cannot register %" PRIu64 " bytes at 0x%" PRIx64 ": the allocation begins at 0x%" PRIx64
                        " and has %zu bytes; register the allocation from the start",
                        size_bytes, address, allocation->start, allocation->size_bytes);
    }
    auto file = platform::emulated_export(address);
    if (!file) {
      return base::fail(file.error().errno_value, "%s; allocate the memory with gdrkit_shmem_malloc",
                        file.error().text());
    }
    return SharedMemory{base::UniqueFd(*file), allocation->size_bytes};
  }

  base::Status attach_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes,
                             base::UniqueFd memory) noexcept override {
    return platform::emulated_adopt(memory.get(), address(slot, offset), size_bytes);
  }

  base::Status remove_shared(int slot, std::uint64_t offset, std::uint64_t size_bytes) noexcept override {
    const std::uint64_t first = address(slot, offset) - platform::emulated_page_bytes;
    const std::uint64_t total = size_bytes + 2 * platform::emulated_page_bytes;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (::mmap(as_pointer(first), total, PROT_NONE, flags, -1, 0) != MAP_FAILED) return {};
    return base::fail(errno, "cannot unmap a registered buffer of %" PRIu64 " bytes: %s", size_bytes,
                      std::strerror(errno));
  }

 private:
  base::Status map(int slot, int fd) noexcept {
    const auto at = static_cast<std::size_t>(slot);
    if (is_mapped_[at]) return {};
    auto mapped = platform::emulated_adopt(fd, address(slot, 0), size_bytes_);
    is_mapped_[at] = mapped.has_value();
    return mapped;
  }

  platform::Device& device_;
  const int own_slot_;
  base::UniqueFd file_;
  std::vector<bool> is_mapped_;
  std::uint64_t size_bytes_ = 0;
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
};

}  // namespace

base::Result<std::unique_ptr<HeapSpace>> reserve_emulated(platform::Device& device, int slots, int own_slot,
                                                          std::uint64_t max_bytes) noexcept try {
  auto space = std::make_unique<EmulatedHeapSpace>(device, slots, own_slot);
  if (auto opened = space->open(max_bytes); !opened) return base::pass(opened);
  return space;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while reserving the symmetric heap");
}

base::Result<std::unique_ptr<HeapSpace>> HeapSpace::reserve(platform::Device& device, int slots, int own_slot,
                                                            std::uint64_t max_bytes,
                                                            const platform::CudaCalls* calls) noexcept {
  if (device.is_emulated()) return reserve_emulated(device, slots, own_slot, max_bytes);
  if (calls == nullptr) {
    auto loaded = platform::cuda_calls();
    if (!loaded) return base::pass(loaded);
    calls = *loaded;
  }
  return reserve_on_gpu(device, slots, own_slot, max_bytes, *calls);
}

}  // namespace gdrkit::shmem_impl::heap
