// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/gpu_code/image.hpp"

#include <cstdint>

// The assembler includes the unchanged file into a separate section, which the linker drops if nothing refers to it.
// 16: the alignment of a fat binary's header is 8. The byte after it terminates a text.
#define GDRKIT_EMBED(symbol, file)                        \
  asm(".section .rodata." symbol                          \
      ",\"a\",@progbits\n"                                \
      ".balign 16\n"                                      \
      ".hidden " symbol "_begin, " symbol                 \
      "_end\n"                                            \
      ".global " symbol "_begin, " symbol "_end\n" symbol \
      "_begin:\n"                                         \
      ".incbin \"" file "\"\n" symbol                     \
      "_end:\n"                                           \
      ".byte 0\n"                                         \
      ".previous\n")
#define GDRKIT_EMBEDDED(symbol)                                                                \
  extern "C" [[gnu::visibility("hidden")]] const std::uint8_t gdrkit_gpu_##symbol##_begin[];   \
  extern "C" [[gnu::visibility("hidden")]] const std::uint8_t gdrkit_gpu_##symbol##_end[];     \
  namespace {                                                                                  \
  GpuImage symbol(std::size_t byte_behind) noexcept {                                          \
    const auto* const begin = gdrkit_gpu_##symbol##_begin;                                     \
    return {begin, static_cast<std::size_t>(gdrkit_gpu_##symbol##_end - begin) + byte_behind}; \
  }                                                                                            \
  }

namespace gdrkit::platform {

#define GDRKIT_GPU_KERNEL(name, Parameters)                                            \
  GDRKIT_EMBED("gdrkit_gpu_ptx_of_" #name, GDRKIT_GPU_PTX_DIRECTORY "/" #name ".ptx"); \
  GDRKIT_EMBEDDED(ptx_of_##name)
#include "platform/gpu_code/gpu_kernels.def"
#undef GDRKIT_GPU_KERNEL

#ifdef GDRKIT_GPU_FAT_BINARY_DIRECTORY
#define GDRKIT_GPU_KERNEL(name, Parameters)                                                       \
  GDRKIT_EMBED("gdrkit_gpu_code_of_" #name, GDRKIT_GPU_FAT_BINARY_DIRECTORY "/" #name ".fatbin"); \
  GDRKIT_EMBEDDED(code_of_##name)                                                                 \
  GpuImages images_of_##name() noexcept { return {code_of_##name(0), ptx_of_##name(1)}; }
#include "platform/gpu_code/gpu_kernels.def"
const char* embedded_gpu_architectures() noexcept { return GDRKIT_GPU_ARCHITECTURES; }
#else
#define GDRKIT_GPU_KERNEL(name, Parameters) \
  GpuImages images_of_##name() noexcept { return {{}, ptx_of_##name(1)}; }
#include "platform/gpu_code/gpu_kernels.def"
const char* embedded_gpu_architectures() noexcept { return ""; }
#endif
#undef GDRKIT_GPU_KERNEL

}  // namespace gdrkit::platform
