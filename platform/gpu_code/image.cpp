// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/image.hpp"

#include <cstdint>

// The assembler takes the file as it is; 16: the alignment of a fat binary's header is 8. The byte behind it ends a
// text.
#define GDRKIT_EMBED(name, file)    \
  asm(".section .rodata\n"          \
      ".balign 16\n"                \
      ".global " name               \
      "_begin\n"                    \
      ".global " name "_end\n" name \
      "_begin:\n"                   \
      ".incbin \"" file "\"\n" name \
      "_end:\n"                     \
      ".byte 0\n"                   \
      ".previous\n")

GDRKIT_EMBED("gdrkit_gpu_ptx", GDRKIT_GPU_PTX_FILE);
extern "C" const std::uint8_t gdrkit_gpu_ptx_begin[];
extern "C" const std::uint8_t gdrkit_gpu_ptx_end[];

#ifdef GDRKIT_GPU_FAT_BINARY_FILE
GDRKIT_EMBED("gdrkit_gpu_fat_binary", GDRKIT_GPU_FAT_BINARY_FILE);
extern "C" const std::uint8_t gdrkit_gpu_fat_binary_begin[];
extern "C" const std::uint8_t gdrkit_gpu_fat_binary_end[];
#endif

namespace gdrkit::platform {

GpuImage embedded_ptx() noexcept {
  return {gdrkit_gpu_ptx_begin, static_cast<std::size_t>(gdrkit_gpu_ptx_end - gdrkit_gpu_ptx_begin) + 1};
}

#ifdef GDRKIT_GPU_FAT_BINARY_FILE
GpuImage embedded_fat_binary() noexcept {
  return {gdrkit_gpu_fat_binary_begin,
          static_cast<std::size_t>(gdrkit_gpu_fat_binary_end - gdrkit_gpu_fat_binary_begin)};
}
const char* embedded_gpu_architectures() noexcept { return GDRKIT_GPU_ARCHITECTURES; }
#else
GpuImage embedded_fat_binary() noexcept { return {}; }
const char* embedded_gpu_architectures() noexcept { return ""; }
#endif

}  // namespace gdrkit::platform
