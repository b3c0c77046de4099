// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// EmulatedCuda: what CUDA would say about the emulated device's memory, for backends that ask it what a pointer is.
#pragma once

#include "driver/cuda.hpp"

namespace gdrkit::fakes {

/// Answers about pointers and the device's address, and serves buffers: memory of the emulated device in a primary
/// context that all threads share, copied at once. Everything else is CUDA_ERROR_NOT_SUPPORTED.
class EmulatedCuda : public driver::Cuda {
 public:
  int answer = 0;  ///< what every call answers instead of working: 3 before cuInit

  int driver_get_version(int* version) noexcept override;
  int pointer_get_attributes(std::uint64_t address, driver::PointerAttributes* attributes) noexcept override;
  int device_get_pci_bus_id(int ordinal, char* text, int capacity) noexcept override;

  int device_get_attribute(int, int, int*) noexcept override { return not_supported; }
  int device_get_uuid(int, driver::CudaUuid*) noexcept override { return not_supported; }
  int init() noexcept override { return answer; }
  int ctx_get_current(std::uint64_t* context) noexcept override;
  int ctx_push_current(std::uint64_t) noexcept override { return answer; }
  int ctx_pop_current() noexcept override { return answer; }
  int primary_ctx_retain(int ordinal, std::uint64_t* context) noexcept override;
  int primary_ctx_release(int) noexcept override { return answer; }
  int exchange_stream_capture_mode(int* mode) noexcept override;
  int stream_create_non_blocking(std::uint64_t* stream) noexcept override;
  int stream_destroy(std::uint64_t) noexcept override { return answer; }
  int stream_synchronize(std::uint64_t) noexcept override { return answer; }
  int mem_alloc(std::uint64_t* address, std::size_t size) noexcept override;
  int mem_free(std::uint64_t address) noexcept override;
  int memcpy_htod_async(std::uint64_t target, const void* source, std::size_t size,
                        std::uint64_t stream) noexcept override;
  int memcpy_dtoh_async(void* target, std::uint64_t source, std::size_t size, std::uint64_t stream) noexcept override;

  int primary_ctx_is_active(int, int*) noexcept override { return not_supported; }
  int export_dmabuf(std::uint64_t, std::size_t, std::uint64_t, driver::ObservedExport*) noexcept override {
    return not_supported;
  }
  int mem_retain_allocation_handle(std::uint64_t, std::uint64_t*) noexcept override { return not_supported; }
  int mem_release(std::uint64_t) noexcept override { return not_supported; }
  int mem_export_to_fd(std::uint64_t, int*) noexcept override { return not_supported; }
  int ipc_get_mem_handle(std::uint64_t, driver::CudaIpcHandle*) noexcept override { return not_supported; }
  int gather_dtoh_async(void*, std::uint64_t, std::size_t, std::size_t, std::size_t, std::uint64_t) noexcept override {
    return not_supported;
  }
  int mem_alloc_async(std::uint64_t*, std::size_t, std::uint64_t) noexcept override { return not_supported; }
  int mem_free_async(std::uint64_t, std::uint64_t) noexcept override { return not_supported; }
};

}  // namespace gdrkit::fakes
