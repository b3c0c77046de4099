// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// atomic: one read-modify-write of one word, for a CPU, which cannot use atomics through BAR1.
#include "platform/gpu_code/atomic_params.hpp"

namespace gdrkit::platform {

template <class Word>
__device__ inline Word update_word(const AtomicParameters& parameters) {
  auto* word = reinterpret_cast<Word*>(parameters.target);
  const auto operand = static_cast<Word>(parameters.operand);
  switch (parameters.update) {
    case AtomicUpdate::add: return atomicAdd_system(word, operand);
    case AtomicUpdate::swap: return atomicExch_system(word, operand);
    case AtomicUpdate::compare_swap: return atomicCAS_system(word, static_cast<Word>(parameters.compare), operand);
    case AtomicUpdate::bit_and: return atomicAnd_system(word, operand);
    case AtomicUpdate::bit_or: return atomicOr_system(word, operand);
    default: return atomicXor_system(word, operand);
  }
}

extern "C" __global__ void gdrkit_atomic(const AtomicParameters parameters) {
  const std::uint64_t before =
      parameters.size_bytes == 4 ? update_word<unsigned>(parameters) : update_word<unsigned long long>(parameters);
  if (parameters.fetched != 0) *reinterpret_cast<volatile std::uint64_t*>(parameters.fetched) = before;
}

}  // namespace gdrkit::platform
