// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Atomic operations for GPU kernels. Included by gdrkit/shmem_device.cuh.
#ifndef GDRKIT_SHMEM_DEVICE_ATOMIC_CUH
#define GDRKIT_SHMEM_DEVICE_ATOMIC_CUH

#include <gdrkit/shmem_device_transfer.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_atomic Atomic operations
/// @ingroup shmem_device
/// @brief Atomic operations on integers of 4 or 8 bytes.
///
/// They are atomic with respect to each other, to gdrkit_shmem_atomic() and to system-scope atomic operations of other
/// GPUs. They are relaxed: they do not order other accesses.
/// @{

#ifdef GDRKIT_DOXYGEN
/// @brief Adds a value to a word of PE `pe` atomically.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation.
template <class Word>
Word atomic_fetch_add(const State& state, Word* target, Word value, int pe);
/// @brief Replaces a word of PE `pe` atomically by the bitwise AND of the word and a value.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation.
template <class Word>
Word atomic_fetch_and(const State& state, Word* target, Word value, int pe);
/// @brief Replaces a word of PE `pe` atomically by the bitwise OR of the word and a value.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation.
template <class Word>
Word atomic_fetch_or(const State& state, Word* target, Word value, int pe);
/// @brief Replaces a word of PE `pe` atomically by the bitwise exclusive OR of the word and a value.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation.
template <class Word>
Word atomic_fetch_xor(const State& state, Word* target, Word value, int pe);
/// @brief Replaces a word of PE `pe` atomically.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation.
template <class Word>
Word atomic_swap(const State& state, Word* target, Word value, int pe);
#else
#define GDRKIT_SHMEM_ATOMIC(operation, proxied)                                                                       \
  template <class Word>                                                                                               \
  GDRKIT_SHMEM_FUNCTION Word atomic_##operation(const State& state, Word* target, Word value, int pe) {               \
    return detail::update_on_pe(                                                                                      \
        state, target, proxied, value, Word{}, pe, detail::ProxyWait::done,                                           \
        [&](detail::Bits<Word>* there) { return detail::operation(there, static_cast<detail::Bits<Word>>(value)); }); \
  }
GDRKIT_SHMEM_ATOMIC(fetch_add, GDRKIT_SHMEM_ATOMIC_ADD)
GDRKIT_SHMEM_ATOMIC(fetch_and, GDRKIT_SHMEM_ATOMIC_AND)
GDRKIT_SHMEM_ATOMIC(fetch_or, GDRKIT_SHMEM_ATOMIC_OR)
GDRKIT_SHMEM_ATOMIC(fetch_xor, GDRKIT_SHMEM_ATOMIC_XOR)
GDRKIT_SHMEM_ATOMIC(swap, GDRKIT_SHMEM_ATOMIC_SWAP)
#undef GDRKIT_SHMEM_ATOMIC
#endif

/// @brief Replaces a word of PE `pe` atomically if it is equal to `compare`.
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] compare Value that the word must have to be replaced.
/// @param[in] value New value.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value before the operation; equal to `compare` if the word was replaced.
template <class Word>
GDRKIT_SHMEM_FUNCTION Word atomic_compare_swap(const State& state, Word* target, Word compare, Word value, int pe) {
  using Bits = detail::Bits<Word>;
  return detail::update_on_pe(
      state, target, GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, value, compare, pe, detail::ProxyWait::done,
      [&](Bits* there) { return detail::compare_swap(there, static_cast<Bits>(compare), static_cast<Bits>(value)); });
}
/// @brief Adds a value to a word of PE `pe` atomically. The operation is complete after quiet().
/// @param[in] state State of the PE.
/// @param[in,out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value Operand.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @note Does not wait for a result, so it is faster than atomic_fetch_add().
template <class Word>
GDRKIT_SHMEM_FUNCTION void atomic_add(const State& state, Word* target, Word value, int pe) {
  (void)detail::update_on_pe(state, target, GDRKIT_SHMEM_ATOMIC_ADD, value, Word{}, pe, detail::ProxyWait::nothing,
                             [&](detail::Bits<Word>* there) {
                               detail::add(there, static_cast<detail::Bits<Word>>(value));
                               return 0;
                             });
}
/// @brief Loads a word of PE `pe`.
/// @param[in] state State of the PE.
/// @param[in] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value.
template <class Word>
GDRKIT_SHMEM_FUNCTION Word atomic_fetch(const State& state, const Word* target, int pe) {
  return g(state, target, pe);
}
/// @brief Stores a value in a word of PE `pe`. The store is complete after quiet().
/// @param[in] state State of the PE.
/// @param[out] target Symmetric address of the word in the caller's heap, naturally aligned.
/// @param[in] value The value.
/// @param[in] pe PE number, 0 to n_pes - 1.
template <class Word>
GDRKIT_SHMEM_FUNCTION void atomic_set(const State& state, Word* target, Word value, int pe) {
  p(state, target, value, pe);
}

/// @}

}  // namespace gdrkit::shmem

#endif
