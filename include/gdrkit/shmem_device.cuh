// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief gdrkit shmem for GPU kernels: puts, gets, signals, atomic operations, ordering and barriers.
#ifndef GDRKIT_SHMEM_DEVICE_CUH
#define GDRKIT_SHMEM_DEVICE_CUH

/// @defgroup shmem_device Functions for GPU kernels
/// @ingroup shmem
/// @brief Communication by GPU threads, in namespace gdrkit::shmem.
///
/// GPUs that can access each other (NVLink, PCIe peer access) use loads and stores. A host thread of the PE, the
/// proxy, sends data to other nodes. The headers require C++17, but not relocatable device code. An ordinary C++
/// compiler also compiles them, for host threads that emulate GPU threads on the emulated device.
///
/// The host passes the state of the PE (gdrkit_shmem_get_device_state). Addresses are in the caller's own symmetric
/// heap, as on the host. Arguments are not checked. All threads of a group call a function with the same arguments.
///
/// gdrkit/shmem_collectives.cuh adds teams and collectives, gdrkit/shmem_device_words.cuh waits for many words, and
/// gdrkit/shmem_state.cuh the state without an argument.
///
/// @code{.cu}
/// #include <gdrkit/shmem_device.cuh>
///
/// // Puts 4096 bytes to the next PE, then sets its signal word to 1.
/// __global__ void send(gdrkit_shmem_device_state pe, float* target, const float* source, uint64_t* signal) {
///   gdrkit::shmem::put_signal(pe, target, source, 4096, signal, 1, GDRKIT_SHMEM_SIGNAL_SET, (pe.pe + 1) % pe.n_pes,
///                             gdrkit::shmem::block());
/// }
/// @endcode

#include <gdrkit/shmem_device_atomic.cuh>
#include <gdrkit/shmem_device_barrier.cuh>
#include <gdrkit/shmem_device_group.cuh>
#include <gdrkit/shmem_device_signal.cuh>
#include <gdrkit/shmem_device_transfer.cuh>

#endif
