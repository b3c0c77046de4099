// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The list of copy kernels, generated from the .def file of this architecture.
#include "copy/copier.hpp"

#if defined(__x86_64__)
#define GDRKIT_COPY_KERNELS_DEF "copy/kernels_x86_64.def"
#elif defined(__aarch64__)
#define GDRKIT_COPY_KERNELS_DEF "copy/kernels_arm64.def"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define GDRKIT_COPY_KERNELS_DEF "copy/kernels_ppc64le.def"
#else
#define GDRKIT_COPY_KERNELS_DEF "copy/kernels_generic.def"
#endif

namespace gdrkit::copy {

// Declares both directions of every copy kernel. A direction that its line omits is never defined or used.
#define GDRKIT_COPY_KERNEL(name, stores, loads, streams, widest, usable)               \
  namespace copy_kernel::name {                                                        \
  void store_lines(void* target, const void* source, std::size_t line_count) noexcept; \
  void load_lines(void* target, const void* source, std::size_t line_count) noexcept;  \
  }
#include GDRKIT_COPY_KERNELS_DEF
#undef GDRKIT_COPY_KERNEL

#define GDRKIT_COPY_KERNEL(name, stores, loads, streams, widest, usable)                          \
  namespace copy_kernel::name {                                                                   \
  static bool runs_on([[maybe_unused]] const cpu::Features& features) noexcept { return usable; } \
  static constexpr KernelInfo info{#name, stores, loads, streams, widest, runs_on};               \
  }
#include GDRKIT_COPY_KERNELS_DEF
#undef GDRKIT_COPY_KERNEL

namespace {

constexpr KernelInfo all_kernels[] = {
#define GDRKIT_COPY_KERNEL(name, stores, loads, streams, widest, usable) copy_kernel::name::info,
#include GDRKIT_COPY_KERNELS_DEF
#undef GDRKIT_COPY_KERNEL
};

}  // namespace

std::span<const KernelInfo> kernels() noexcept { return all_kernels; }

}  // namespace gdrkit::copy
