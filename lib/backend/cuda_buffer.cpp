// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/cuda_buffer.hpp"

#include <cstdint>
#include <new>
#include <utility>

#include "backend/cuda_scope.hpp"

namespace gdrkit::backend {
namespace {

// Larger than the address space of every GPU. Some drivers return "invalid value" for such sizes, not "out of memory".
constexpr std::size_t largest_size = std::size_t{1} << 48;

class CudaBuffer final : public BackendBuffer {
 public:
  CudaBuffer(const driver::CudaCalls& cuda, int device) noexcept : cuda_(cuda), device_(device) {}
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  ~CudaBuffer() override { (void)free(); }

  base::Status take(std::size_t size_bytes) noexcept;
  base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept override {
    return run_copy("cuMemcpyHtoDAsync", [&](void* stream) {
      return cuda_.memcpy_host_to_device_async(address_ + offset, source, size_bytes, stream);
    });
  }
  base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept override {
    return run_copy("cuMemcpyDtoHAsync", [&](void* stream) {
      return cuda_.memcpy_device_to_host_async(target, address_ + offset, size_bytes, stream);
    });
  }
  base::Status free() noexcept override;
  /// CUDA does not support fork: the child must not call it.
  void abandon_after_fork() noexcept override {
    address_ = 0;
    retained_device_ = -1;
  }

 private:
  base::Status free_memory() noexcept;
  /// Calls `copy(stream)`, which starts one copy, and waits for its completion.
  template <class Copy>
  base::Status run_copy(const char* call, Copy copy) noexcept;

  const driver::CudaCalls& cuda_;
  int device_;
  void* context_ = nullptr;
  int retained_device_ = -1;  ///< CUdevice; -1: none
};

base::Status CudaBuffer::take(std::size_t size_bytes) noexcept {
  if (const int result = cuda_.init(0); result != 0) {
    return driver::cuda_failure(result, "cannot initialize CUDA: cuInit");
  }
  int device = 0;
  if (const int result = cuda_.device_get(&device, device_); result != 0) {
    return driver::cuda_failure(result, "cannot use CUDA device %d: cuDeviceGet", device_);
  }
  if (const int result = cuda_.primary_ctx_retain(&context_, device); result != 0) {
    return driver::cuda_failure(result, "cannot use CUDA device %d: cuDevicePrimaryCtxRetain", device_);
  }
  retained_device_ = device;
  auto scope = CudaScope::enter(cuda_, context_, device_);
  if (!scope) return base::pass(scope);
  if (size_bytes > largest_size) {
    return base::fail(ENOMEM,
                      "cannot allocate %zu bytes on CUDA device %d: the size exceeds the address space of a GPU",
                      size_bytes, device_);
  }
  std::uint64_t address = 0;
  if (const int result = cuda_.mem_alloc(&address, size_bytes); result != 0) {
    return driver::cuda_failure(result, "cannot allocate %zu bytes on CUDA device %d: cuMemAlloc", size_bytes, device_);
  }
  address_ = address;
  size_bytes_ = size_bytes;
  return {};
}

template <class Copy>
base::Status CudaBuffer::run_copy(const char* call, Copy copy) noexcept {
  auto scope = CudaScope::enter(cuda_, context_, device_);
  if (!scope) return base::pass(scope);
  void* stream = nullptr;
  const char* step = "cuStreamCreate";
  int result = cuda_.stream_create(&stream, driver::cuda_stream_non_blocking);
  if (result == 0) {
    step = call;
    result = copy(stream);
    // Even after an error: the driver may still write to the caller's memory.
    const int synchronized = cuda_.stream_synchronize(stream);
    if (result == 0 && synchronized != 0) {
      step = "cuStreamSynchronize";
      result = synchronized;
    }
    (void)cuda_.stream_destroy(stream);
  }
  if (result == 0) return {};
  return driver::cuda_failure(result, "cannot copy between host memory and CUDA device %d: %s", device_, step);
}

base::Status CudaBuffer::free_memory() noexcept {
  auto scope = CudaScope::enter(cuda_, context_, device_);
  if (!scope) return base::pass(scope);
  const int result = cuda_.mem_free(address_);
  if (result == 0) return {};
  return driver::cuda_failure(result, "cannot free a buffer of CUDA device %d: cuMemFree", device_);
}

base::Status CudaBuffer::free() noexcept {
  base::Status first;
  if (address_ != 0) first = free_memory();
  address_ = 0;
  size_bytes_ = 0;
  const int retained = std::exchange(retained_device_, -1);
  if (retained < 0) return first;
  const int result = cuda_.primary_ctx_release(retained);
  if (result == 0 || !first) return first;
  return driver::cuda_failure(result, "cannot release the context of CUDA device %d: cuDevicePrimaryCtxRelease",
                              device_);
}

}  // namespace

base::Result<std::unique_ptr<BackendBuffer>> allocate_cuda_buffer(const driver::CudaCalls& cuda, int device,
                                                                  std::size_t size_bytes) noexcept {
  std::unique_ptr<CudaBuffer> buffer(new (std::nothrow) CudaBuffer(cuda, device));
  if (buffer == nullptr) return base::fail_literal(ENOMEM, "out of memory while allocating a buffer");
  if (base::Status taken = buffer->take(size_bytes); !taken) {
    (void)buffer->free();  // releases what take() acquired before its error
    return base::pass(taken);
  }
  return std::unique_ptr<BackendBuffer>(std::move(buffer));
}

}  // namespace gdrkit::backend
