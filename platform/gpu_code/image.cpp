// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/image.hpp"

#include <cstdint>

#ifdef GDRKIT_GPU_IMAGE_FILE
// The assembler takes the file as it is; 16: the alignment of a fat binary's header is 8.
asm(".section .rodata\n"
    ".balign 16\n"
    ".global gdrkit_gpu_image_begin\n"
    ".global gdrkit_gpu_image_end\n"
    "gdrkit_gpu_image_begin:\n"
    ".incbin \"" GDRKIT_GPU_IMAGE_FILE
    "\"\n"
    "gdrkit_gpu_image_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" const std::uint8_t gdrkit_gpu_image_begin[];
extern "C" const std::uint8_t gdrkit_gpu_image_end[];
#endif

namespace gdrkit::platform {

#ifdef GDRKIT_GPU_IMAGE_FILE
GpuImage embedded_gpu_image() noexcept {
  return {gdrkit_gpu_image_begin, static_cast<std::size_t>(gdrkit_gpu_image_end - gdrkit_gpu_image_begin)};
}
const char* embedded_gpu_architectures() noexcept { return GDRKIT_GPU_ARCHITECTURES; }
#else
GpuImage embedded_gpu_image() noexcept { return {}; }
const char* embedded_gpu_architectures() noexcept { return ""; }
#endif

}  // namespace gdrkit::platform
