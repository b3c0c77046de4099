// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/cuda_device_calls.hpp"

#include <mutex>

#include "shim/cuda_library.hpp"

namespace gdrkit::platform {
namespace {

template <class Function>
bool load(const char* name, Function** function, base::Error* error) noexcept {
  auto symbol = shim::cuda_symbol(name);
  if (!symbol) {
    *error = symbol.error();
    return false;
  }
  *function = reinterpret_cast<Function*>(*symbol);
  return true;
}

template <class Function>
void load_if_there(const char* name, Function** function) noexcept {
  auto symbol = shim::cuda_symbol(name);
  *function = symbol ? reinterpret_cast<Function*>(*symbol) : nullptr;
}

bool load_all(CudaDeviceCalls* calls, base::Error* error) noexcept {
#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...) load_if_there(#symbol, &calls->member);
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  if (!load(#symbol, &calls->member, error)) return false;
#include "platform/device/cuda_device_calls.def"
#undef GDRKIT_CUDA_CALL
  return true;
}

}  // namespace

base::Result<const CudaDeviceCalls*> cuda_device_calls() noexcept {
  static std::mutex mutex;
  static CudaDeviceCalls calls;
  static bool is_loaded = false;
  const std::lock_guard lock(mutex);
  base::Error error{};
  if (!is_loaded) {
    if (!load_all(&calls, &error)) return tl::unexpected<base::Error>(error);
    is_loaded = true;
  }
  return &calls;
}

}  // namespace gdrkit::platform
