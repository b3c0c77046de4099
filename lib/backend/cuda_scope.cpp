// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/cuda_scope.hpp"

#include <optional>
#include <utility>

#include "driver/device_with_access.hpp"

namespace gdrkit::backend {
namespace {

constexpr int capture_mode_relaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

int device_with_access(driver::Cuda& cuda, std::uint64_t address, int own) noexcept {
  return driver::device_with_access(own, [&](int device) {
    bool has_access = false;
    return cuda.mem_get_access(address, device, &has_access) == 0 ? std::optional(has_access) : std::nullopt;
  });
}

}  // namespace

CudaScope::CudaScope(CudaScope&& other) noexcept
    : cuda_(std::exchange(other.cuda_, nullptr)),
      capture_mode_(other.capture_mode_),
      retained_ordinal_(other.retained_ordinal_),
      is_pushed_(other.is_pushed_) {}

CudaScope::~CudaScope() {
  if (cuda_ == nullptr) return;
  if (is_pushed_) (void)cuda_->ctx_pop_current();
  if (retained_ordinal_ >= 0) (void)cuda_->primary_ctx_release(retained_ordinal_);
  if (capture_mode_ >= 0) (void)cuda_->exchange_stream_capture_mode(&capture_mode_);
}

base::Result<CudaScope> CudaScope::enter(driver::Cuda& cuda, std::uint64_t memory_context, int device_ordinal,
                                         std::uint64_t address) noexcept {
  if (memory_context == 0 && address != 0) device_ordinal = device_with_access(cuda, address, device_ordinal);
  CudaScope scope(cuda);
  int mode = capture_mode_relaxed;
  if (const int result = cuda.exchange_stream_capture_mode(&mode); result != 0) {
    return driver::cuda_failure(result, "cannot use CUDA on this thread: cuThreadExchangeStreamCaptureMode");
  }
  scope.capture_mode_ = mode;
  if (auto chosen = scope.choose_context(memory_context, device_ordinal); !chosen) return base::pass(chosen);
  return scope;
}

base::Status CudaScope::choose_context(std::uint64_t memory_context, int device_ordinal) noexcept {
  std::uint64_t current = 0;
  (void)cuda_->ctx_get_current(&current);
  if (memory_context != 0) return memory_context == current ? base::Status() : push(memory_context);
  int is_active = 0;
  (void)cuda_->primary_ctx_is_active(device_ordinal, &is_active);
  if (is_active == 0 && current != 0) return {};
  std::uint64_t primary = 0;
  if (const int result = cuda_->primary_ctx_retain(device_ordinal, &primary); result != 0) {
    return driver::cuda_failure(result, "cannot use the primary context of CUDA device %d", device_ordinal);
  }
  retained_ordinal_ = device_ordinal;
  return primary == current ? base::Status() : push(primary);
}

base::Status CudaScope::push(std::uint64_t context) noexcept {
  if (const int result = cuda_->ctx_push_current(context); result != 0) {
    return driver::cuda_failure(result, "cannot use the CUDA context of the memory");
  }
  is_pushed_ = true;
  return {};
}

}  // namespace gdrkit::backend
