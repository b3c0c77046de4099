// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The functions of libnvshmem_host.so.3 for the CPU and streams: those of include/gdrkit/compat, with external linkage.
#include "shmem/nvshmem/renamed_functions.hpp"
//
#include <gdrkit/detail/shmem_reductions.cuh>

// As CUDA passes __half and __nv_bfloat16: a class with one member of 16 bits.
using __half = gdrkit::shmem::Half;
using __nv_bfloat16 = gdrkit::shmem::Bfloat16;

template <class Element>
static Element sum(Element left, Element right) {
  using gdrkit::shmem::detail::widen;
  Element result;
  gdrkit::shmem::detail::narrow(widen(left) + widen(right), &result);
  return result;
}
static __half operator+(__half left, __half right) { return sum(left, right); }
static __nv_bfloat16 operator+(__nv_bfloat16 left, __nv_bfloat16 right) { return sum(left, right); }

#define GDRKIT_NVSHMEM_EXPORTS
#include <nvshmem.h>
