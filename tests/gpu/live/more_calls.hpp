// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The CUDA driver calls that only the live tests use, in addition to those of the table, resolved at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "driver/cuda_calls.hpp"

namespace gdrkit::live {

/// Returns the driver function with this exact exported name. The test process ends if the driver lacks it.
template <class Function>
Function* driver_function(const char* name) {
  auto symbol = driver::cuda_symbol(name);
  if (!symbol) std::abort();
  return reinterpret_cast<Function*>(*symbol);
}

struct MoreCalls {
#define GDRKIT_LIVE_CALL(name, ...) int (*name)(__VA_ARGS__) = driver_function<int(__VA_ARGS__)>(#name)
  GDRKIT_LIVE_CALL(cuMemsetD32Async, std::uint64_t, unsigned, std::size_t, void*);
  GDRKIT_LIVE_CALL(cuStreamBeginCapture_v2, void*, int);
  GDRKIT_LIVE_CALL(cuStreamEndCapture, void*, void**);
  GDRKIT_LIVE_CALL(cuGraphGetNodes, void*, void**, std::size_t*);
  GDRKIT_LIVE_CALL(cuGraphDestroy, void*);
#undef GDRKIT_LIVE_CALL
};

}  // namespace gdrkit::live
