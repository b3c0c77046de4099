// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The work of the GPU kernels of streams (stream_signal, stream_value, stream_wait), written once for GPU threads and
// for the host thread that emulates them.
#pragma once

#include <gdrkit/shmem_device_words.cuh>

#include "platform/gpu_code/stream_params.hpp"

namespace gdrkit::platform {

/// The order of a stream puts all its earlier work before the fence, which is cumulative (PTX ISA, "Causality order").
/// The store or update comes after it.
GDRKIT_SHMEM_FUNCTION void update_signal(const StreamSignal& signal) {
  shmem::detail::fence_system();
  if (signal.operation == GDRKIT_SHMEM_SIGNAL_ADD) {
    (void)shmem::detail::fetch_add(reinterpret_cast<unsigned long long*>(signal.address),
                                   static_cast<unsigned long long>(signal.value));
  } else {
    shmem::detail::store_relaxed(reinterpret_cast<std::uint64_t*>(signal.address), signal.value);
  }
}

template <class Word>
GDRKIT_SHMEM_FUNCTION void store_part(std::uint64_t address, std::uint64_t part) {
  *reinterpret_cast<volatile Word*>(address) = static_cast<Word>(part);
}

/// Stores the low `size_bytes` bytes (1 to 8) of `word`, by the widest naturally aligned stores.
GDRKIT_SHMEM_FUNCTION void store_bytes(std::uint64_t address, std::uint64_t word, unsigned size_bytes) {
  if (size_bytes == 8 && address % 8 == 0) return store_part<std::uint64_t>(address, word);
  while (size_bytes != 0) {
    unsigned width = 1;
    if (size_bytes >= 4 && address % 4 == 0) {
      store_part<std::uint32_t>(address, word);
      width = 4;
    } else if (size_bytes >= 2 && address % 2 == 0) {
      store_part<std::uint16_t>(address, word);
      width = 2;
    } else {
      store_part<unsigned char>(address, word);
    }
    address += width;
    size_bytes -= width;
    word >>= width * 8;
  }
}

/// Returns false if the wait timed out.
GDRKIT_SHMEM_FUNCTION bool stream_wait(const StreamWaitParameters& parameters) {
  const auto comparison = static_cast<gdrkit_shmem_comparison>(parameters.comparison);
  switch (parameters.word) {
    case GDRKIT_SHMEM_INT16:
      return shmem::detail::wait_until_word(parameters.state, reinterpret_cast<const std::int16_t*>(parameters.address),
                                            comparison, static_cast<std::int16_t>(parameters.value));
    case GDRKIT_SHMEM_UINT16:
      return shmem::detail::wait_until_word(parameters.state,
                                            reinterpret_cast<const std::uint16_t*>(parameters.address), comparison,
                                            static_cast<std::uint16_t>(parameters.value));
    case GDRKIT_SHMEM_INT32:
      return shmem::wait_until(parameters.state, reinterpret_cast<const std::int32_t*>(parameters.address), comparison,
                               static_cast<std::int32_t>(parameters.value));
    case GDRKIT_SHMEM_UINT32:
      return shmem::wait_until(parameters.state, reinterpret_cast<const std::uint32_t*>(parameters.address), comparison,
                               static_cast<std::uint32_t>(parameters.value));
    case GDRKIT_SHMEM_INT64:
      return shmem::wait_until(parameters.state, reinterpret_cast<const std::int64_t*>(parameters.address), comparison,
                               static_cast<std::int64_t>(parameters.value));
    default:
      return shmem::wait_until(parameters.state, reinterpret_cast<const std::uint64_t*>(parameters.address), comparison,
                               parameters.value);
  }
}

}  // namespace gdrkit::platform
