// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// atomic: one read-modify-write of one word, for a CPU that has none through BAR1.
#if defined(GDRKIT_GPU_KERNEL)
GDRKIT_GPU_KERNEL(atomic, AtomicParameters)

#elif defined(GDRKIT_GPU_PARAMETERS)
#include <cstdint>

namespace gdrkit::platform {

enum class AtomicUpdate : std::uint32_t { add, swap, compare_swap, bit_and, bit_or, bit_xor };

/// Updates the naturally aligned word at `target`, by one thread, atomically with respect to all of the system.
struct AtomicParameters {
  std::uint64_t target;
  std::uint64_t operand;
  std::uint64_t compare;     ///< of compare_swap
  std::uint64_t fetched;     ///< where the word's value before goes, as 64 bits; 0: nowhere
  std::uint32_t size_bytes;  ///< 4 or 8
  AtomicUpdate update;
};

}  // namespace gdrkit::platform

#elif defined(GDRKIT_GPU_PART)
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

#elif defined(GDRKIT_HOST_PART)
#include <atomic>

#include "platform/gpu_code/host_access.hpp"

namespace gdrkit::platform {

base::Status check(const AtomicParameters& parameters, LaunchShape shape, unsigned) noexcept {
  if (parameters.size_bytes != 4 && parameters.size_bytes != 8) {
    return base::fail(EINVAL, "atomic: a word has 4 or 8 bytes, not %u", parameters.size_bytes);
  }
  if (parameters.target == 0 || parameters.target % parameters.size_bytes != 0) {
    return base::fail(EINVAL, "atomic: 0x%llx is no naturally aligned word",
                      static_cast<unsigned long long>(parameters.target));
  }
  if (parameters.update > AtomicUpdate::bit_xor) return base::fail(EINVAL, "atomic: there is no such update");
  if (shape.blocks * shape.threads != 1) return base::fail(EINVAL, "atomic: one thread updates the word");
  return {};
}

template <class Word>
static std::uint64_t update_word(const AtomicParameters& parameters) noexcept {
  const std::atomic_ref word(*reinterpret_cast<Word*>(parameters.target));
  const auto operand = static_cast<Word>(parameters.operand);
  auto compare = static_cast<Word>(parameters.compare);
  switch (parameters.update) {
    case AtomicUpdate::add: return word.fetch_add(operand);
    case AtomicUpdate::swap: return word.exchange(operand);
    case AtomicUpdate::compare_swap: word.compare_exchange_strong(compare, operand); return compare;
    case AtomicUpdate::bit_and: return word.fetch_and(operand);
    case AtomicUpdate::bit_or: return word.fetch_or(operand);
    default: return word.fetch_xor(operand);
  }
}

void play(const AtomicParameters& parameters, LaunchShape) noexcept {
  const std::uint64_t before =
      parameters.size_bytes == 4 ? update_word<std::uint32_t>(parameters) : update_word<std::uint64_t>(parameters);
  if (parameters.fetched != 0) *reinterpret_cast<volatile std::uint64_t*>(parameters.fetched) = before;
}

}  // namespace gdrkit::platform

#else
#error "gpu_kernels.def chooses a part of this file"
#endif
