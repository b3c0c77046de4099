// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/cuda_calls.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>

#include "driver/cuda.hpp"

namespace gdrkit::driver {
namespace {

std::atomic<void*> loaded_library{nullptr};

template <class Function>
base::Status load(const char* name, Function** function) noexcept {
  const auto symbol = cuda_symbol(name);
  if (!symbol) return base::pass(symbol);
  *function = reinterpret_cast<Function*>(*symbol);
  return {};
}

base::Status load_all(CudaCalls* calls) noexcept {
#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...) (void)load(#symbol, &calls->member);
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  if (base::Status loaded = load(#symbol, &calls->member); !loaded) return loaded;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  calls->export_dmabuf = &export_dmabuf_observed;
  return {};
}

}  // namespace

base::Result<const CudaCalls*> cuda_calls() noexcept {
  // A forked child could inherit a held lock, so there is none: if two threads load at once, one publishes its table.
  static std::atomic<const CudaCalls*> published{nullptr};
  if (const CudaCalls* calls = published.load(std::memory_order_acquire)) return calls;
  std::unique_ptr<CudaCalls> made(new (std::nothrow) CudaCalls);
  if (made == nullptr)
    return base::fail_literal(ENOMEM, "cannot create the table of CUDA driver functions: out of memory");
  if (base::Status loaded = load_all(made.get()); !loaded) return base::pass(loaded);
  const CudaCalls* earlier = nullptr;
  if (!published.compare_exchange_strong(earlier, made.get(), std::memory_order_acq_rel)) return earlier;
  return made.release();
}

base::Result<void*> cuda_library() noexcept {
  if (void* handle = loaded_library.load(std::memory_order_acquire)) return handle;
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
  loaded_library.store(handle, std::memory_order_release);
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
