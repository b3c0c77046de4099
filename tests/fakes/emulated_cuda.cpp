// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/emulated_cuda.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "driver/emulated_device_identity.hpp"
#include "driver/emulated_memory.hpp"

namespace gdrkit::fakes {

int EmulatedCuda::driver_get_version(int* version) noexcept {
  if (answer != 0) return answer;
  *version = 13000;
  return 0;
}

int EmulatedCuda::pointer_get_attributes(std::uint64_t address, driver::PointerAttributes* attributes) noexcept {
  if (answer != 0) return answer;
  *attributes = {};
  const auto found = driver::emulated_find(address);
  // As CUDA: an address of nobody's is no error. Nor is one past the exact end its allocation's.
  if (!found || address - found->start >= found->size_bytes) return 0;
  attributes->memory_type = found->kind == driver::EmulatedKind::host ? 1 : 2;
  attributes->is_managed = found->kind == driver::EmulatedKind::managed ? 1 : 0;
  attributes->device_ordinal = 0;
  attributes->range_start = found->start;
  attributes->range_size = found->size_bytes;
  attributes->buffer_id = found->buffer_id;
  return 0;
}

int EmulatedCuda::device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept {
  if (answer != 0) return answer;
  if (ordinal != 0) return 101;  // CUDA_ERROR_INVALID_DEVICE
  std::snprintf(text, static_cast<std::size_t>(capacity), "%s", driver::emulated_pci_bus_id);
  return 0;
}

int EmulatedCuda::ctx_get_current(std::uint64_t* context) noexcept {
  if (answer != 0) return answer;
  *context = 0;  // of a thread that uses no CUDA
  return 0;
}

int EmulatedCuda::primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept {
  if (answer != 0) return answer;
  if (ordinal != 0) return 101;  // CUDA_ERROR_INVALID_DEVICE
  *context = 0xc0de;
  return 0;
}

int EmulatedCuda::exchange_stream_capture_mode(int* mode) noexcept {
  if (answer != 0) return answer;
  *mode = 0;  // CU_STREAM_CAPTURE_MODE_GLOBAL, every thread's first
  return 0;
}

int EmulatedCuda::stream_create_non_blocking(std::uint64_t* stream) noexcept {
  if (answer != 0) return answer;
  *stream = 0x57;
  return 0;
}

int EmulatedCuda::mem_alloc(std::uint64_t* address, std::size_t size) noexcept {
  if (answer != 0) return answer;
  const auto allocated = driver::emulated_allocate(size, driver::EmulatedKind::device);
  if (!allocated) return allocated.error().errno_value == ENOMEM ? 2 : 1;  // OUT_OF_MEMORY, INVALID_VALUE
  *address = *allocated;
  return 0;
}

int EmulatedCuda::mem_free(std::uint64_t address) noexcept {
  if (answer != 0) return answer;
  return driver::emulated_free(address) ? 0 : 1;
}

int EmulatedCuda::memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                                    std::uint64_t) noexcept {
  if (answer != 0) return answer;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memcpy(reinterpret_cast<void*>(target), source, size);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

int EmulatedCuda::memcpy_dtoh_async(void* target, std::uint64_t source, std::size_t size, std::uint64_t) noexcept {
  if (answer != 0) return answer;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::memcpy(target, reinterpret_cast<const void*>(source), size);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return 0;
}

}  // namespace gdrkit::fakes
