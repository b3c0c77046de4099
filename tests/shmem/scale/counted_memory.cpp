// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tests/shmem/scale/counted_memory.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

using gdrkit::shmem_impl::tests::CountedMemory;

void* counted(void* memory) noexcept {
  if (memory == nullptr) return nullptr;
  const auto size = static_cast<std::int64_t>(::malloc_usable_size(memory));
  CountedMemory::of_thread += size;
  const std::int64_t live = CountedMemory::live_bytes.fetch_add(size) + size;
  std::int64_t peak = CountedMemory::peak_bytes.load();
  while (live > peak && !CountedMemory::peak_bytes.compare_exchange_weak(peak, live)) {
  }
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  const auto size = static_cast<std::int64_t>(::malloc_usable_size(memory));
  CountedMemory::of_thread -= size;
  CountedMemory::live_bytes.fetch_sub(size);
  std::free(memory);
}

void* required(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* aligned(std::size_t size, std::align_val_t alignment) noexcept {
  void* memory = nullptr;
  return ::posix_memalign(&memory, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) == 0 ? counted(memory)
                                                                                                   : nullptr;
}
void* plain(std::size_t size) noexcept { return counted(std::malloc(size == 0 ? 1 : size)); }

}  // namespace

void* operator new(std::size_t size) { return required(plain(size)); }
void* operator new[](std::size_t size) { return required(plain(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return plain(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return plain(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return required(aligned(size, alignment)); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return required(aligned(size, alignment)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
