// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shim/cuda_calls.hpp"

#include <atomic>
#include <memory>
#include <new>

#include "shim/cuda_library.hpp"

namespace gdrkit::shim {
namespace {

template <class Function>
bool load(const char* name, Function** function, base::Error* error) noexcept {
  auto symbol = cuda_symbol(name);
  if (!symbol) {
    *error = symbol.error();
    return false;
  }
  *function = reinterpret_cast<Function*>(*symbol);
  return true;
}

template <class Function>
void load_if_there(const char* name, Function** function) noexcept {
  auto symbol = cuda_symbol(name);
  *function = symbol ? reinterpret_cast<Function*>(*symbol) : nullptr;
}

bool load_all(CudaCalls* calls, base::Error* error) noexcept {
#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...) load_if_there(#symbol, &calls->member);
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  if (!load(#symbol, &calls->member, error)) return false;
#include "shim/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
  return true;
}

}  // namespace

base::Result<const CudaCalls*> cuda_calls() noexcept {
  // No lock, which a forked child could inherit locked: of two threads that load at once one publishes its table.
  static std::atomic<const CudaCalls*> published{nullptr};
  if (const CudaCalls* calls = published.load(std::memory_order_acquire)) return calls;
  std::unique_ptr<CudaCalls> made(new (std::nothrow) CudaCalls);
  if (made == nullptr) return base::fail_literal(ENOMEM, "no memory for the table of CUDA driver functions");
  base::Error error{};
  if (!load_all(made.get(), &error)) return tl::unexpected<base::Error>(error);
  const CudaCalls* earlier = nullptr;
  if (!published.compare_exchange_strong(earlier, made.get(), std::memory_order_acq_rel)) return earlier;
  return made.release();
}

}  // namespace gdrkit::shim
