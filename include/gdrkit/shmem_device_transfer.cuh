// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Puts, gets and their ordering for GPU kernels. Included by gdrkit/shmem_device.cuh.
#ifndef GDRKIT_SHMEM_DEVICE_TRANSFER_CUH
#define GDRKIT_SHMEM_DEVICE_TRANSFER_CUH

#include <gdrkit/detail/shmem_copy.cuh>
#include <gdrkit/shmem_device_group.cuh>

namespace gdrkit::shmem {

/// @defgroup shmem_device_transfer Puts, gets and ordering
/// @ingroup shmem_device
/// @brief Transfers by GPU threads.
/// @{

/// @brief Returns the address at which this GPU accesses PE `pe`'s copy of `address`.
/// @param[in] state State of the PE.
/// @param[in] address Address in the caller's heap.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The address, or nullptr for a PE on another node.
template <class T>
GDRKIT_SHMEM_FUNCTION T* ptr(const State& state, T* address, int pe) {
  return state.proxy_address != 0 && detail::is_proxied(state, pe) ? nullptr
                                                                   : detail::address_on_pe(state, address, pe);
}

/// @brief Stores a value in PE `pe`'s copy of an object.
/// @param[in] state State of the PE.
/// @param[out] target Symmetric address in the caller's heap, naturally aligned.
/// @param[in] value The value, at most 8 bytes.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @note If `pe` is on this node, this is one store. The value is visible at the target after quiet().
template <class T>
GDRKIT_SHMEM_FUNCTION void p(const State& state, T* target, T value, int pe) {
  detail::on_pe(
      state, target, pe, [&](T* there) { *static_cast<volatile T*>(there) = value; },
      [&] { detail::put_value_by_proxy(state, target, value, pe); });
}
/// @brief Loads a value from PE `pe`'s copy of an object.
/// @param[in] state State of the PE.
/// @param[in] source Symmetric address in the caller's heap, naturally aligned.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @return The value, at most 8 bytes. 0 if the proxy did not return it within the limit.
template <class T>
GDRKIT_SHMEM_FUNCTION T g(const State& state, const T* source, int pe) {
  return detail::on_pe(
      state, source, pe, [&](const T* there) -> T { return *static_cast<const volatile T*>(there); },
      [&]() -> T { return detail::get_value_by_proxy(state, source, pe); });
}

/// @brief Copies local data to PE `pe`'s copy of an object.
/// @param[in] state State of the PE.
/// @param[out] target Symmetric address in the caller's heap.
/// @param[in] source Local data in GPU memory or mapped host memory.
/// @param[in] size_bytes Size in bytes.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @param[in] group Threads that perform the copy.
/// @note The source may be reused when all threads of the group have returned. After quiet(), the data is visible at
/// the target.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                               Group group) {
  if (state.proxy_address != 0 && detail::is_proxied(state, pe)) {
    return detail::put_by_proxy(state, target, source, size_bytes, pe, nullptr, 0, GDRKIT_SHMEM_SIGNAL_SET,
                                detail::ProxyWait::begun, group);
  }
  detail::copy<detail::Reads::ordinary>(static_cast<char*>(detail::address_on_pe(state, target, pe)),
                                        static_cast<const char*>(source), size_bytes, group);
  group.sync();
}
/// @brief Starts a put, without a barrier of the group at its end. The put is complete after each thread calls quiet().
/// @param[in] state State of the PE.
/// @param[out] target Symmetric address in the caller's heap.
/// @param[in] source Local data in GPU memory or mapped host memory.
/// @param[in] size_bytes Size in bytes.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @param[in] group Threads that perform the copy.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put_nbi(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                                   Group group) {
  if (state.proxy_address != 0 && detail::is_proxied(state, pe)) {
    return detail::put_by_proxy(state, target, source, size_bytes, pe, nullptr, 0, GDRKIT_SHMEM_SIGNAL_SET,
                                detail::ProxyWait::nothing, group);
  }
  detail::copy<detail::Reads::ordinary>(static_cast<char*>(detail::address_on_pe(state, target, pe)),
                                        static_cast<const char*>(source), size_bytes, group);
}
/// @brief Copies data from PE `pe`'s copy of an object to local memory.
/// @param[in] state State of the PE.
/// @param[out] target Local memory.
/// @param[in] source Symmetric address in the caller's heap.
/// @param[in] size_bytes Size in bytes.
/// @param[in] pe PE number, 0 to n_pes - 1.
/// @param[in] group Threads that perform the copy.
/// @note The target holds the data when all threads of the group have returned.
template <class Group>
GDRKIT_SHMEM_FUNCTION void get(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                               Group group) {
  if (state.proxy_address != 0 && detail::is_proxied(state, pe))
    return detail::get_by_proxy(state, target, source, size_bytes, pe, group);
  detail::copy<detail::Reads::fresh>(static_cast<char*>(target),
                                     static_cast<const char*>(detail::address_on_pe(state, source, pe)), size_bytes,
                                     group);
  group.sync();
}

/// @brief Orders earlier puts to each PE before later puts to the same PE.
/// @param[in] state State of the PE.
/// @note Applies to the puts of the calling thread, and of threads that synchronized with it before.
GDRKIT_SHMEM_FUNCTION void fence(const State& state) {
  detail::fence_release();
  if (state.proxy_address != 0) detail::fence_by_proxy(state);
}
/// @brief Waits until earlier puts and atomic operations are complete and visible to every PE.
/// @param[in] state State of the PE.
/// @note Applies to the operations of the calling thread, and of threads that synchronized with it before.
GDRKIT_SHMEM_FUNCTION void quiet(const State& state) {
  detail::fence_system();
  if (state.proxy_address != 0) detail::quiet_by_proxy(state);
}
/// @brief Completes earlier puts and atomic operations of all threads of a group.
/// @param[in] state State of the PE.
/// @param[in] group The threads. One fence serves all of them, because fences are cumulative.
template <class Group>
GDRKIT_SHMEM_FUNCTION void quiet(const State& state, Group group) {
  group.sync();
  if (group.rank() == 0) quiet(state);
  group.sync();
}

/// @}

}  // namespace gdrkit::shmem

#endif
