// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/cuda_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>

namespace gdrkit::driver {
namespace {

std::atomic<void*> loaded{nullptr};

}  // namespace

base::Result<void*> cuda_library() noexcept {
  if (void* handle = loaded.load(std::memory_order_acquire)) return handle;
  // The versioned name first: runtime containers contain only that one.
  void* handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    char first[512];
    std::snprintf(first, sizeof first, "%s", text != nullptr ? text : "unknown error");
    handle = ::dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      return base::fail(
          ENOENT, "cannot load the CUDA driver library: %s; install the NVIDIA driver or mount it into the container",
          first);
    }
  }
  // If a second thread has loaded it too, both handles refer to one library. Neither is ever closed.
  loaded.store(handle, std::memory_order_release);
  return handle;
}

base::Result<void*> cuda_symbol(const char* name) noexcept {
  auto library = cuda_library();
  if (!library) return library;
  void* symbol = ::dlsym(*library, name);
  if (symbol == nullptr) return base::fail(ENOSYS, "cannot use libcuda: it lacks %s; update the NVIDIA driver", name);
  return symbol;
}

}  // namespace gdrkit::driver
