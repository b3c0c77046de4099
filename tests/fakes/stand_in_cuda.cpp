// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated driver as a libcuda.so.1: the functions that every libcuda has and it lacks are not supported.
#include "driver/cuda_calls.hpp"

namespace gdrkit::driver {

extern "C" {

#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...)
#define GDRKIT_CUDA_CALL(member, symbol, ...) \
  [[gnu::weak, gnu::visibility("default")]] int symbol(__VA_ARGS__) { return cuda_error_not_supported; }
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL

}  // extern "C"

}  // namespace gdrkit::driver
