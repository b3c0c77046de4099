// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for C++20: a job, symmetric buffers and spans. Header-only; link libgdrkit_shmem.
///
/// Functions throw gdrkit::Error, whose code is the errno that the C function returns and whose text is
/// gdrkit_shmem_last_error(). Collective functions are marked: every PE calls them in the same order. Calls operate on
/// the calling thread's PE: a thread that neither constructed a Job nor called Job::use() uses the only PE of the
/// process.
///
/// @code{.cpp}
/// #include <gdrkit/shmem.hpp>
/// #include <vector>
///
/// int main() {
///   const gdrkit::shmem::Job job;                     // PE and number of PEs come from the launcher
///   const auto inbox = job.allocate<float>(1000);     // collective
///   const auto signal = job.allocate<std::uint64_t>(1);
///   const std::vector<float> numbers(1000, 1.5F);
///   inbox.span().put_signal(numbers, signal[0], 1, (job.pe() + 1) % job.n_pes());
///   signal[0].wait_until(gdrkit::shmem::Comparison::equal, 1);  // then `inbox` has the numbers of the previous PE
/// }
/// @endcode
#ifndef GDRKIT_SHMEM_HPP
#define GDRKIT_SHMEM_HPP

#include <gdrkit/shmem.h>
#include <gdrkit/gdrkit.hpp>
#include <gdrkit/shmem_buffer.hpp>
#include <gdrkit/shmem_job.hpp>
#include <gdrkit/shmem_span.hpp>

#endif
