// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions of libnvshmem_host.so.3 for the CPU and streams: those of include/gdrkit/compat, with external linkage.
#include <gdrkit/detail/shmem_reductions.cuh>

// As CUDA passes __half and __nv_bfloat16: a class with one member of 16 bits.
using __half = gdrkit::shmem::Half;
using __nv_bfloat16 = gdrkit::shmem::Bfloat16;

namespace gdrkit::shmem {
template <class Element>
static Element sum(Element left, Element right) {
  Element result;
  detail::narrow(detail::widen(left) + detail::widen(right), &result);
  return result;
}
static Half operator+(Half left, Half right) { return sum(left, right); }
static Bfloat16 operator+(Bfloat16 left, Bfloat16 right) { return sum(left, right); }
}  // namespace gdrkit::shmem

#define GDRKIT_NVSHMEM_EXPORTS
#include <nvshmem.h>
