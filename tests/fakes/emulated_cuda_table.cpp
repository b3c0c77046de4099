// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated driver's functions as a table, in a separate file in which the missing optional functions are null
// pointers.
#include "fakes/emulated_cuda.hpp"

namespace gdrkit::driver {

extern "C" {
#define GDRKIT_CUDA_CALL(member, symbol, ...) int symbol(__VA_ARGS__);
#define GDRKIT_CUDA_OPTIONAL_CALL(member, symbol, ...) [[gnu::weak]] int symbol(__VA_ARGS__);
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
}

}  // namespace gdrkit::driver

namespace gdrkit::fakes {

const driver::CudaCalls& emulated_cuda() {
  static const driver::CudaCalls calls = [] {
    initialise_emulated_cuda();
    driver::CudaCalls made;
#define GDRKIT_CUDA_CALL(member, symbol, ...) made.member = &driver::symbol;
#include "driver/cuda_calls.def"
#undef GDRKIT_CUDA_CALL
    return made;
  }();
  return calls;
}

}  // namespace gdrkit::fakes
