// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief Job: one PE, which allocates symmetric buffers. Included by gdrkit/shmem.hpp.
#ifndef GDRKIT_SHMEM_JOB_HPP
#define GDRKIT_SHMEM_JOB_HPP

#include <gdrkit/shmem.h>
#include <gdrkit/error.hpp>
#include <gdrkit/shmem_span.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace gdrkit::shmem {

namespace hpp_detail {

inline std::uint32_t milliseconds_of(std::chrono::milliseconds timeout) {
  if (timeout.count() < 0 || timeout.count() > std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
    throw Error(EINVAL, "invalid timeout: it must be 0 to 4294967295 ms");
  }
  return static_cast<std::uint32_t>(timeout.count());
}

/// Compares std::uncaught_exceptions() with its value at construction.
class UnwindingDetector {
 public:
  [[nodiscard]] bool is_unwinding() const noexcept { return std::uncaught_exceptions() > at_construction_; }

 private:
  int at_construction_ = std::uncaught_exceptions();
};

}  // namespace hpp_detail

/// @brief Owns objects of the symmetric heap.
///
/// Construction (Job::allocate) and destruction are collective. A destructor that runs because of an exception frees
/// nothing, because the other PEs do not take part; the end of the job frees the memory.
/// @tparam T Trivially copyable type of the elements, not a pointer.
/// @tparam Free Function that frees the objects.
/// @note Destroy a buffer before its Job.
template <class T, int (*Free)(void*) = &gdrkit_shmem_free>
class SymmetricBuffer {
  static_assert(hpp_detail::check_element<T>());
  static_assert(!std::is_const_v<T>, "a buffer owns elements that can be written");

 public:
  /// @brief Takes over the objects of another buffer, which is empty afterwards.
  /// @param[in,out] other The other buffer.
  SymmetricBuffer(SymmetricBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  /// @brief Frees this buffer's objects, and takes over those of another buffer. Collective if this buffer has objects.
  /// @param[in,out] other The other buffer, which is empty afterwards.
  /// @return This buffer.
  SymmetricBuffer& operator=(SymmetricBuffer&& other) noexcept {
    SymmetricBuffer taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;
  }
  /// @brief Frees the objects and ignores errors. Collective.
  ~SymmetricBuffer() {
    if (data_ != nullptr && !unwinding_.is_unwinding()) (void)Free(data_);
  }

  /// @brief Returns the span of all objects. It must not outlive the buffer.
  /// @return Span of all objects.
  [[nodiscard]] SymmetricSpan<T> span() const& noexcept { return {data_, size_}; }
  SymmetricSpan<T> span() const&& = delete;  ///< @brief The span of a temporary buffer would outlive it.
  /// @brief Returns the span of one object. It must not outlive the buffer.
  /// @param[in] index Index of the object.
  /// @return Span of the object.
  /// @throw std::out_of_range if `index` is not less than size().
  [[nodiscard]] SymmetricSpan<T> operator[](std::size_t index) const& { return span()[index]; }
  SymmetricSpan<T> operator[](std::size_t) const&& = delete;  ///< @brief As for span().
  /// @brief Returns the address of the first object in the caller's heap; nullptr for an empty buffer.
  /// @return Address of the first object, or nullptr.
  [[nodiscard]] T* data() const& noexcept { return data_; }
  T* data() const&& = delete;  ///< @brief As for span().
  /// @brief Returns the number of objects.
  /// @return Number of objects.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// @brief Frees the objects now. Collective.
  /// @throw Error with an errno of gdrkit_shmem_free.
  void free() {
    size_ = 0;
    hpp_detail::check(Free(std::exchange(data_, nullptr)));
  }

 private:
  friend class Job;
  SymmetricBuffer(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  T* data_;
  std::size_t size_;
  [[no_unique_address]] hpp_detail::UnwindingDetector unwinding_;
};

/// @brief The application's memory while it is symmetric. The destructor unregisters it, and does not free it.
template <class T>
using RegisteredBuffer = SymmetricBuffer<T, &gdrkit_shmem_buffer_unregister_symmetric>;

/// @brief Options of a Job. Zero or empty: the launcher's environment or the default.
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
  /// @brief Finalizes the PE and ignores errors. Collective. Does nothing if it runs because of an exception: when this
  /// process exits, the waits of the other PEs fail.
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
