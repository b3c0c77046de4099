// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Names and errno values of the CUresult codes that pinning can cause. A table of our own: reading from libcuda the
// text needs a loaded library, and a failing load is one of the things to be reported.
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "driver/cuda.hpp"

namespace gdrkit::driver {
namespace {

struct Row {
  int result;
  int errno_value;
  const char* name;
};

constexpr Row rows[] = {
    {0, 0, "CUDA_SUCCESS"},
    {1, EINVAL, "CUDA_ERROR_INVALID_VALUE"},
    {2, ENOMEM, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, EINVAL, "CUDA_ERROR_NOT_INITIALIZED"},
    {4, EINVAL, "CUDA_ERROR_DEINITIALIZED"},
    {34, ENODEV, "CUDA_ERROR_STUB_LIBRARY"},
    {46, EBUSY, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, ENODEV, "CUDA_ERROR_NO_DEVICE"},
    {101, ENODEV, "CUDA_ERROR_INVALID_DEVICE"},
    {200, ENOEXEC, "CUDA_ERROR_INVALID_IMAGE"},
    {201, EINVAL, "CUDA_ERROR_INVALID_CONTEXT"},
    {209, ENOEXEC, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {217, EOPNOTSUPP, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
    {218, ENOEXEC, "CUDA_ERROR_INVALID_PTX"},
    {221, ENOEXEC, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND"},
    {222, ENOEXEC, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
    {304, EIO, "CUDA_ERROR_OPERATING_SYSTEM"},
    {400, EINVAL, "CUDA_ERROR_INVALID_HANDLE"},
    {500, ENOSYS, "CUDA_ERROR_NOT_FOUND"},
    {600, EAGAIN, "CUDA_ERROR_NOT_READY"},
    {700, EIO, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {701, ENOMEM, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {702, ETIMEDOUT, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {704, EEXIST, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
    {705, EINVAL, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED"},
    {708, EBUSY, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"},
    {709, EINVAL, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {712, EEXIST, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {713, EINVAL, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {719, EIO, "CUDA_ERROR_LAUNCH_FAILED"},
    {800, EACCES, "CUDA_ERROR_NOT_PERMITTED"},
    {801, EOPNOTSUPP, "CUDA_ERROR_NOT_SUPPORTED"},
    {803, ENODEV, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {900, EBUSY, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, EBUSY, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {999, EIO, "CUDA_ERROR_UNKNOWN"},
};

const Row* find(int result) noexcept {
  for (const Row& row : rows) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

const char* cuda_result_name(int result) noexcept {
  if (const Row* row = find(result)) return row->name;
  thread_local char text[24];
  std::snprintf(text, sizeof text, "CUresult %d", result);
  return text;
}

int cuda_result_errno(int result) noexcept {
  const Row* row = find(result);
  return row != nullptr ? row->errno_value : EIO;
}

tl::unexpected<base::Error> cuda_failure(int result, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const auto text = base::SharedText::format(format, arguments);
  va_end(arguments);
  return base::fail_vendor(cuda_result_errno(result), result, "%s: %s", text.c_str(), cuda_result_name(result));
}

}  // namespace gdrkit::driver
