// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/cuda_scope.hpp"

#include <utility>

namespace gdrkit::backend {
namespace {

constexpr int capture_mode_relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

}  // namespace

CudaScope::CudaScope(CudaScope&& other) noexcept
    : cuda_(std::exchange(other.cuda_, nullptr)),
      capture_mode_(other.capture_mode_),
      retained_device_(other.retained_device_),
      is_pushed_(other.is_pushed_) {}

CudaScope::~CudaScope() {
  if (cuda_ == nullptr) return;
  void* popped = nullptr;
  if (is_pushed_) (void)cuda_->ctx_pop_current(&popped);
  if (retained_device_ >= 0) (void)cuda_->primary_ctx_release(retained_device_);
  if (capture_mode_ >= 0) (void)cuda_->exchange_stream_capture_mode(&capture_mode_);
}

base::Result<CudaScope> CudaScope::enter(const driver::CudaCalls& cuda, void* memory_context, int device_ordinal,
                                         std::uint64_t address) noexcept {
  if (memory_context == nullptr && address != 0) {
    device_ordinal = driver::device_with_access(cuda, address, device_ordinal, driver::cuda_mem_access_read);
  }
  CudaScope scope(cuda);
  int mode = capture_mode_relaxed;
  if (const int result = cuda.exchange_stream_capture_mode(&mode); result != 0) {
    return driver::cuda_failure(result, "cannot use CUDA on this thread: cuThreadExchangeStreamCaptureMode");
  }
  scope.capture_mode_ = mode;
  if (auto chosen = scope.choose_context(memory_context, device_ordinal); !chosen) return base::pass(chosen);
  return scope;
}

base::Status CudaScope::choose_context(void* memory_context, int device_ordinal) noexcept {
  void* current = nullptr;
  (void)cuda_->ctx_get_current(&current);
  if (memory_context != nullptr) return memory_context == current ? base::Status() : push(memory_context);
  int device = 0, is_active = 0;
  unsigned flags = 0;
  int result = cuda_->device_get(&device, device_ordinal);
  if (result == 0) (void)cuda_->primary_ctx_get_state(device, &flags, &is_active);
  if (is_active == 0 && current != nullptr) return {};
  void* primary = nullptr;
  if (result == 0) result = cuda_->primary_ctx_retain(&primary, device);
  if (result != 0) {
    return driver::cuda_failure(result, "cannot use the primary context of CUDA device %d", device_ordinal);
  }
  retained_device_ = device;
  return primary == current ? base::Status() : push(primary);
}

base::Status CudaScope::push(void* context) noexcept {
  if (const int result = cuda_->ctx_push_current(context); result != 0) {
    return driver::cuda_failure(result, "cannot use CUDA on this thread: cuCtxPushCurrent");
  }
  is_pushed_ = true;
  return {};
}

}  // namespace gdrkit::backend
