// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaDevice: Device on a GPU, through the CUDA driver API. Include it only in its own sources.
#pragma once

#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"

namespace gdrkit::platform {

/// During its lifetime this thread may allocate memory and load GPU code although a stream of the process is captured,
/// by this thread or in CU_STREAM_CAPTURE_MODE_GLOBAL. Neither is work of the stream, but the driver cannot detect that
/// and would end the capture.
class RelaxedCaptureScope {
 public:
  explicit RelaxedCaptureScope(const CudaCalls& calls) noexcept : calls_(calls) {
    is_exchanged_ = calls_.exchange_stream_capture_mode(&mode_) == 0;
  }
  ~RelaxedCaptureScope() {
    if (is_exchanged_) (void)calls_.exchange_stream_capture_mode(&mode_);
  }
  RelaxedCaptureScope(const RelaxedCaptureScope&) = delete;
  RelaxedCaptureScope& operator=(const RelaxedCaptureScope&) = delete;

 private:
  const CudaCalls& calls_;
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED; then the thread's own
  bool is_exchanged_;
};

inline void* as_pointer(std::uint64_t word) noexcept { return reinterpret_cast<void*>(word); }

/// Success, or the failure of `call` with the driver's name for the error.
inline base::Status check(int result, const char* call) noexcept {
  if (result == 0) return {};
  return base::fail_vendor(driver::cuda_result_errno(result), result, "CUDA call %s failed: %s", call,
                           driver::cuda_result_name(result));
}

inline base::Status check_at(int result, const char* call, std::uint64_t address, std::size_t size_bytes) noexcept {
  if (result == 0) return {};
  return base::fail_vendor(driver::cuda_result_errno(result), result,
                           "CUDA call %s of %zu bytes at 0x%" PRIx64 " failed: %s", call, size_bytes, address,
                           driver::cuda_result_name(result));
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const CudaCalls& calls) noexcept : calls_(calls) {}
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override;

  base::Status open(int ordinal) noexcept;

  [[nodiscard]] bool is_emulated() const noexcept override { return false; }
  base::Status make_current() noexcept override { return check(calls_.ctx_set_current(context_), "cuCtxSetCurrent"); }

  base::Result<std::uint64_t> enter() noexcept override {
    void* before = nullptr;
    if (auto known = check(calls_.ctx_get_current(&before), "cuCtxGetCurrent"); !known) return base::pass(known);
    if (before != context_) {
      if (auto current = make_current(); !current) return base::pass(current);
    }
    return reinterpret_cast<std::uint64_t>(before);
  }
  void leave(std::uint64_t before) noexcept override {
    if (as_pointer(before) != context_) (void)calls_.ctx_set_current(as_pointer(before));
  }

  base::Result<Allocation> allocate(AllocationKind kind, std::size_t size_bytes) noexcept override;
  base::Result<DeviceMemory> memory() noexcept override;
  base::Status set_sync_memops(std::uint64_t address) noexcept override {
    const unsigned on = 1;
    return check_at(calls_.pointer_set_attribute(&on, driver::cuda_pointer_attribute_sync_memops, address),
                    "cuPointerSetAttribute(SYNC_MEMOPS)", address, 0);
  }

  base::Status copy_to_device(std::uint64_t target, const void* source, std::size_t size_bytes) noexcept override {
    auto copied = driver_copy_to_device(target, source, size_bytes);
    return copied ? synchronize(Stream{}) : copied;
  }
  base::Status copy_to_host(void* target, std::uint64_t source, std::size_t size_bytes) noexcept override {
    // cuMemcpyDtoH returns when the copy is complete.
    return check_at(calls_.memcpy_device_to_host(target, source, size_bytes), "cuMemcpyDtoH", source, size_bytes);
  }
  base::Status fill(std::uint64_t target, std::uint8_t value, std::size_t size_bytes) noexcept override {
    auto filled = check_at(calls_.memset_d8(target, value, size_bytes), "cuMemsetD8", target, size_bytes);
    return filled ? synchronize(Stream{}) : filled;
  }
  base::Status driver_copy_to_device(std::uint64_t target, const void* source,
                                     std::size_t size_bytes) noexcept override {
    return check_at(calls_.memcpy_host_to_device(target, source, size_bytes), "cuMemcpyHtoD", target, size_bytes);
  }

  base::Result<Stream> create_stream() noexcept override {
    void* stream = nullptr;
    auto created = check(calls_.stream_create(&stream, cuda_stream_non_blocking), "cuStreamCreate");
    if (!created) return base::pass(created);
    return Stream{reinterpret_cast<std::uint64_t>(stream)};
  }
  base::Status destroy_stream(Stream stream) noexcept override {
    return check(calls_.stream_destroy(as_pointer(stream.handle)), "cuStreamDestroy");
  }
  base::Status synchronize(Stream stream) noexcept override {
    return check(calls_.stream_synchronize(as_pointer(stream.handle)), "cuStreamSynchronize");
  }
  base::Status synchronize_all() noexcept override { return check(calls_.ctx_synchronize(), "cuCtxSynchronize"); }

  base::Status copy_to_device_async(std::uint64_t target, const void* source, std::size_t size_bytes,
                                    Stream stream) noexcept override;
  base::Status copy_to_host_async(void* target, std::uint64_t source, std::size_t size_bytes,
                                  Stream stream) noexcept override;
  base::Status copy_device_to_device_async(std::uint64_t target, std::uint64_t source, std::size_t size_bytes,
                                           Stream stream) noexcept override;
  base::Status store_word_async(std::uint64_t target, std::uint64_t value, std::size_t size_bytes,
                                Stream stream) noexcept override;
  base::Result<bool> is_finished(Stream stream) noexcept override;
  base::Result<bool> is_capturing(Stream stream) noexcept override;

  base::Result<Event> create_event() noexcept override;
  base::Status destroy_event(Event event) noexcept override;
  base::Status record(Event event, Stream stream) noexcept override;
  base::Status synchronize(Event event) noexcept override;
  base::Status wait(Stream stream, Event event) noexcept override;
  base::Result<double> elapsed_ms(Event begin, Event end) noexcept override;

  base::Result<Module> load_module(const void* image) noexcept override;
  base::Status unload_module(Module module) noexcept override;
  base::Result<Function> get_function(Module module, const char* name) noexcept override;
  base::Result<Module> module_of_library(void* library) noexcept override;
  base::Result<Symbol> get_symbol(Module module, const char* name) noexcept override;
  base::Status launch_cooperative(Function function, const CooperativeShape& shape, Stream stream,
                                  void** parameters) noexcept override;
  base::Result<int> cooperative_blocks(Function function, unsigned threads, std::size_t shared_bytes) noexcept override;
  base::Status load_function(Function function) noexcept override;
  base::Status launch(Function function, LaunchShape shape, Stream stream, void** parameters) noexcept override;
  base::Status launch_host_function(Stream stream, void (*function)(void*), void* argument) noexcept override;

  base::Result<std::uint64_t> device_address(const void* host) noexcept override;

  base::Result<int> attribute(DeviceAttribute attribute) noexcept override;
  base::Result<bool> can_access_peer(Device& peer) noexcept override;
  base::Status enable_peer_access(Device& peer) noexcept override;

 protected:
  base::Status free(std::uint64_t address, std::size_t extent_bytes, AllocationKind kind) noexcept override;

 private:
  base::Status identify() noexcept;
  void write_driver_version() noexcept;
  base::Result<Allocation> allocate_simple(AllocationKind kind, std::size_t size_bytes) noexcept;
  base::Result<Allocation> allocate_vmm(AllocationKind kind, std::size_t size_bytes) noexcept;
  base::Status map_new_memory(std::uint64_t address, std::size_t extent,
                              const CudaMemAllocationProp& properties) noexcept;

  const CudaCalls& calls_;
  int device_ = 0;
  bool is_retained_ = false;
  void* context_ = nullptr;
  void* pool_stream_ = nullptr;  // separate, so that allocating waits only for the allocation
};

}  // namespace gdrkit::platform
