// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions that every libcuda has and the stand-in does not play: CUDA_ERROR_NOT_SUPPORTED.
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
