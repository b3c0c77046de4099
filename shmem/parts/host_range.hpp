// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recognizes host memory without a query of the CUDA driver, which takes longer than a small put.
#pragma once

#include <cstddef>

namespace gdrkit::shmem_impl::parts {

/// Returns whether the range is in the live part of the calling thread's stack, in the program's own variables, or in
/// the heap of brk(2), where malloc places small blocks. The driver never places device memory there. false: unknown.
/// Other results are not cached: after host memory is unmapped, its address may become device memory. Only a thread's
/// first call makes system calls.
[[nodiscard]] bool is_surely_host(const void* address, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::shmem_impl::parts
