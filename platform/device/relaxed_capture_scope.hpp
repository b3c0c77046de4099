// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RelaxedCaptureScope: calls that the driver rejects during a capture, although they are not work of a stream.
#pragma once

#include "platform/device/cuda_calls.hpp"

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

}  // namespace gdrkit::platform
