// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Host memory that is recognised without a query of the CUDA driver, which takes longer than a small put.
#pragma once

#include <cstddef>

namespace gdrkit::shmem_impl::parts {

/// Whether all of it lies in the live part of the calling thread's stack, in the program's own variables, or in the
/// heap that brk() grows, where small blocks of malloc's are: the driver never places device memory there. false: not
/// known. Nothing is remembered of other memory, as an address that was host memory may be device memory after it was
/// unmapped. No system call but a thread's first time.
[[nodiscard]] bool is_surely_host(const void* address, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::shmem_impl::parts
