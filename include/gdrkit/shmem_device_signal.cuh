// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Signals and waits for GPU kernels. Included by gdrkit/shmem_device.cuh.
#ifndef GDRKIT_SHMEM_DEVICE_SIGNAL_CUH
#define GDRKIT_SHMEM_DEVICE_SIGNAL_CUH

#include <gdrkit/shmem_device_atomic.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_signal Signals and waits
/// @ingroup shmem_device
/// @brief Signals, and waits for words of the caller's heap.
/// @{

/// @brief Updates a signal word of PE `pe`.
/// @param[in] state State of the PE.
/// @param[in,out] signal Symmetric address of the 64-bit word in the caller's heap.
/// @param[in] value Operand of the signal.
/// @param[in] operation How the signal changes the word.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @note A PE that observes the new value also observes earlier puts to it that a fence of this thread orders
///   before the signal.
GDRKIT_SHMEM_FUNCTION void signal_op(const State& state, std::uint64_t* signal, std::uint64_t value,
                                     gdrkit_shmem_signal operation, int pe) {
  if (operation == GDRKIT_SHMEM_SIGNAL_ADD) {
    atomic_add(state, signal, value, pe);
  } else {
    detail::on_pe(
        state, signal, pe, [&](std::uint64_t* there) { detail::store_relaxed(there, value); },
        [&] { detail::put_value_by_proxy(state, signal, value, pe); });
  }
}

/// @brief Puts data, then updates a signal word at the same PE.
///
/// All threads of the group put, and one of them signals after all stores. The group's barrier orders the stores before
/// its fence, because a fence is cumulative (PTX ISA, "Causality order").
/// @param[in] state State of the PE.
/// @param[out] target Symmetric address in the caller's heap.
/// @param[in] source Local data in GPU memory or mapped host memory.
/// @param[in] size_bytes Size in bytes.
/// @param[in,out] signal Symmetric address of the 64-bit word in the caller's heap.
/// @param[in] value Operand of the signal.
/// @param[in] operation How the signal changes the word.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @param[in] group Threads that perform the copy.
/// @note A PE that observes the new value of the word also observes the data.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put_signal(const State& state, void* target, const void* source, std::size_t size_bytes,
                                      std::uint64_t* signal, std::uint64_t value, gdrkit_shmem_signal operation, int pe,
                                      Group group) {
  if (state.proxy_address != 0 && detail::is_proxied(state, pe)) {
    return detail::put_by_proxy(state, target, source, size_bytes, pe, signal, value, operation,
                                detail::ProxyWait::begun, group);
  }
  put(state, target, source, size_bytes, pe, group);
  if (group.rank() == 0) {
    if (size_bytes != 0) detail::fence_release();
    signal_op(state, signal, value, operation, pe);
  }
}

namespace detail {

/// Returns the address as that of an unsigned word, which load_acquire() and load_polled() require.
template <class Word>
GDRKIT_SHMEM_FUNCTION auto* unsigned_word(const Word* address) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "a word must have 4 or 8 bytes");
  return reinterpret_cast<const std::conditional_t<sizeof(Word) == 4, std::uint32_t, std::uint64_t>*>(address);
}

}  // namespace detail

/// @brief Tests whether a word of the caller's heap satisfies a comparison.
/// @param[in] address Address of the word of 4 or 8 bytes, naturally aligned.
/// @param[in] comparison The comparison; signed or unsigned according to `Word`.
/// @param[in] value Right operand of the comparison.
/// @return true if it does. If a signal wrote the value, the data of the same put_signal() is visible. So are earlier
///   puts of the sender that a fence orders before the signal.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool test(const Word* address, gdrkit_shmem_comparison comparison, Word value) {
  return detail::compares(static_cast<Word>(detail::load_acquire(detail::unsigned_word(address))), comparison, value);
}

/// @brief Waits until a word of the caller's heap satisfies a comparison.
/// @param[in] state State of the PE.
/// @param[in] address Address of the word of 4 or 8 bytes, naturally aligned.
/// @param[in] comparison The comparison; signed or unsigned according to `Word`.
/// @param[in] value Right operand of the comparison.
/// @return true if it does. false if the wait exceeded the state's limit or a PE has ended; the host's next
///   gdrkit_shmem_quiet() or gdrkit_shmem_barrier_all() reports it.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool wait_until(const State& state, const Word* address, gdrkit_shmem_comparison comparison,
                                      Word value) {
  return detail::wait_for(state, address, [=] {
    return detail::compares(static_cast<Word>(detail::load_polled(detail::unsigned_word(address))), comparison, value);
  });
}
/// @brief Loads a signal word of the caller's heap.
/// @param[in] signal Address of the word.
/// @return The value. The data of the same put_signal() is visible. So are earlier puts of the sender that a fence
///   orders before the signal.
GDRKIT_SHMEM_FUNCTION std::uint64_t signal_fetch(const std::uint64_t* signal) { return detail::load_acquire(signal); }
/// @brief Waits until a signal word of the caller's heap satisfies a comparison. See wait_until().
/// @param[in] state State of the PE.
/// @param[in] signal Address of the word.
/// @param[in] comparison The comparison, of unsigned numbers.
/// @param[in] value Right operand of the comparison.
/// @return As wait_until().
GDRKIT_SHMEM_FUNCTION bool signal_wait_until(const State& state, const std::uint64_t* signal,
                                             gdrkit_shmem_comparison comparison, std::uint64_t value) {
  return wait_until(state, signal, comparison, value);
}

/// @}

}  // namespace gdrkit::shmem

#endif
