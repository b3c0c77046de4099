// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Job: one PE, which allocates symmetric buffers. Included by gdrkit/shmem.hpp.
#ifndef GDRKIT_SHMEM_JOB_HPP
#define GDRKIT_SHMEM_JOB_HPP

#include <gdrkit/shmem.h>
#include <gdrkit/detail/shmem_checks.hpp>
#include <gdrkit/error.hpp>
#include <gdrkit/shmem_buffer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>

namespace gdrkit::shmem {

namespace hpp_detail {

inline std::uint32_t milliseconds_of(std::chrono::milliseconds timeout) {
  if (timeout.count() < 0 || timeout.count() > std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
    throw Error(EINVAL, "invalid timeout: it must be 0 to 4294967295 ms");
  }
  return static_cast<std::uint32_t>(timeout.count());
}

}  // namespace hpp_detail

/// @brief Options of a Job. A zero or empty member selects the launcher's environment or the default.
struct JobOptions {
  int n_pes = 0;                                      ///< Number of PEs; 0: the launcher's environment.
  int pe = 0;                                         ///< PE number, 0 to n_pes - 1.
  std::optional<int> device;                          ///< CUDA device number; empty: by the PE's local rank.
  std::chrono::milliseconds timeout{0};               ///< Limit of init, collectives and waits; 0: default.
  std::optional<gdrkit_shmem_unique_id_t> unique_id;  ///< From make_unique_id() of PE 0.
  gdrkit_shmem_allgather_t allgather = nullptr;       ///< Alternative to unique_id.
  void* allgather_argument = nullptr;                 ///< Last argument of allgather.
  std::uint64_t heap_bytes = 0;                       ///< Initial heap size per PE; 0: default.
  std::uint64_t heap_max_bytes = 0;                   ///< Maximum heap size per PE; 0: default.
};

/// @brief Creates the unique ID of a job. The process of PE 0 must send it to all others.
/// @return The ID.
/// @throw Error with an errno of gdrkit_shmem_get_unique_id.
[[nodiscard]] inline gdrkit_shmem_unique_id_t make_unique_id() {
  gdrkit_shmem_unique_id_t id{};
  hpp_detail::check(gdrkit_shmem_get_unique_id(&id));
  return id;
}

/// @brief One PE of a job, bound to the constructing thread.
///
/// Construction and destruction are collective. Destroy all buffers first.
class Job {
 public:
  /// @brief Joins the job of the launcher's environment. Collective.
  /// @throw Error with an errno of gdrkit_shmem_init.
  [[nodiscard]] Job() : Job(JobOptions{}) {}
  /// @brief Joins a job. Collective.
  /// @param[in] options Options of this PE.
  /// @throw Error with an errno of gdrkit_shmem_init.
  [[nodiscard]] explicit Job(const JobOptions& options) {
    gdrkit_shmem_options given{};
    given.struct_size = sizeof given;
    given.n_pes = options.n_pes;
    given.pe = options.pe;
    given.has_device = options.device ? 1 : 0;
    given.device = options.device.value_or(0);
    given.timeout_ms = hpp_detail::milliseconds_of(options.timeout);
    given.unique_id = options.unique_id ? &*options.unique_id : nullptr;
    given.allgather = options.allgather;
    given.allgather_argument = options.allgather_argument;
    given.heap_bytes = options.heap_bytes;
    given.heap_max_bytes = options.heap_max_bytes;
    hpp_detail::check(gdrkit_shmem_init(&given));
    hpp_detail::check(gdrkit_shmem_current(&handle_));
    pe_ = gdrkit_shmem_my_pe();
    n_pes_ = gdrkit_shmem_n_pes();
  }
  Job(const Job&) = delete;             ///< @brief A PE has one owner.
  Job& operator=(const Job&) = delete;  ///< @brief A PE has one owner.
  /// @brief Finalizes the PE and ignores errors. Collective. Does nothing during stack unwinding: when this process
  /// exits, the waits of the other PEs fail.
  ~Job() {
    if (handle_.value == 0 || unwinding_.is_unwinding()) return;
    if (gdrkit_shmem_use(handle_) == 0) (void)gdrkit_shmem_finalize();
  }
  /// @brief Finalizes now. Collective.
  /// @throw Error with an errno of gdrkit_shmem_finalize.
  void finalize() {
    use();
    handle_ = {};
    hpp_detail::check(gdrkit_shmem_finalize());
  }

  /// @brief Returns the number of this PE.
  /// @return PE number from 0.
  [[nodiscard]] int pe() const noexcept { return pe_; }
  /// @brief Returns the number of PEs of the job.
  /// @return Number of PEs.
  [[nodiscard]] int n_pes() const noexcept { return n_pes_; }
  /// @brief Binds the calling thread to this PE.
  /// @throw Error EINVAL if the PE has been finalized.
  void use() const { hpp_detail::check(gdrkit_shmem_use(handle_)); }
  /// @brief Returns properties of the calling thread's PE.
  /// @return The properties.
  /// @throw Error with an errno of gdrkit_shmem_get_info.
  [[nodiscard]] gdrkit_shmem_info info() const {
    gdrkit_shmem_info info{};
    info.struct_size = sizeof info;
    hpp_detail::check(gdrkit_shmem_get_info(&info));
    return info;
  }
  /// @brief Returns the state that GPU kernels take as an argument (gdrkit/shmem_device.cuh).
  /// @return The state.
  /// @throw Error with an errno of gdrkit_shmem_get_device_state.
  [[nodiscard]] gdrkit_shmem_device_state device_state() const {
    gdrkit_shmem_device_state state{};
    hpp_detail::check(gdrkit_shmem_get_device_state(&state));
    return state;
  }
  /// @brief Sets the time limit of later collectives and waits.
  /// @param[in] timeout Limit; 0: none.
  /// @throw Error EINVAL if the limit is negative or exceeds 4294967295 ms.
  void set_timeout(std::chrono::milliseconds timeout) const {
    hpp_detail::check(gdrkit_shmem_set_timeout(hpp_detail::milliseconds_of(timeout)));
  }

  /// @brief Allocates zeroed objects in the symmetric heap. Collective.
  /// @tparam T Trivially copyable type of the objects, not a pointer.
  /// @param[in] count Number of objects, at least 1, the same on every PE.
  /// @return Owner of the objects.
  /// @throw Error with an errno of gdrkit_shmem_calloc.
  template <class T>
  [[nodiscard]] SymmetricBuffer<T> allocate(std::size_t count) const {
    void* data = nullptr;
    hpp_detail::check(gdrkit_shmem_calloc(count, sizeof(T), &data));
    return {static_cast<T*>(data), count};
  }

  /// @brief Makes GPU memory of the application symmetric. Collective. See gdrkit_shmem_buffer_register_symmetric.
  /// @param[in] buffer Address of the memory.
  /// @param[in] count Number of objects, the same on every PE.
  /// @return Owner of the registration.
  /// @throw std::length_error if the size in bytes exceeds SIZE_MAX.
  /// @throw Error with an errno of gdrkit_shmem_buffer_register_symmetric.
  template <class T>
  [[nodiscard]] RegisteredBuffer<T> register_symmetric(T* buffer, std::size_t count) const {
    if (count > SIZE_MAX / sizeof(T)) throw std::length_error("the size of the buffer exceeds SIZE_MAX bytes");
    void* data = nullptr;
    hpp_detail::check(gdrkit_shmem_buffer_register_symmetric(buffer, count * sizeof(T), &data));
    return {static_cast<T*>(data), count};
  }

  /// @brief Orders earlier puts to each PE before later ones. See gdrkit_shmem_fence.
  void fence() const { hpp_detail::check(gdrkit_shmem_fence()); }
  /// @brief Completes earlier puts, gets and atomic operations. See gdrkit_shmem_quiet.
  void quiet() const { hpp_detail::check(gdrkit_shmem_quiet()); }
  /// @brief Calls quiet(), then waits for all PEs. Collective. See gdrkit_shmem_barrier_all.
  void barrier() const { hpp_detail::check(gdrkit_shmem_barrier_all()); }
  /// @brief Waits for all PEs; does not complete outstanding puts. Collective. See gdrkit_shmem_sync_all.
  void sync() const { hpp_detail::check(gdrkit_shmem_sync_all()); }

 private:
  gdrkit_shmem_pe_t handle_{};
  int pe_ = 0;
  int n_pes_ = 1;
  [[no_unique_address]] hpp_detail::UnwindingDetector unwinding_;
};

}  // namespace gdrkit::shmem

#endif
