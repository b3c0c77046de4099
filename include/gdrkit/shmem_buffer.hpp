// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief SymmetricBuffer: owns objects in the symmetric heap. Included by gdrkit/shmem.hpp.
#ifndef GDRKIT_SHMEM_BUFFER_HPP
#define GDRKIT_SHMEM_BUFFER_HPP

#include <gdrkit/shmem_memory.h>
#include <gdrkit/detail/shmem_checks.hpp>
#include <gdrkit/shmem_span.hpp>

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

namespace gdrkit::shmem {

namespace hpp_detail {

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
/// Construction (Job::allocate) and destruction are collective. During stack unwinding, the destructor frees nothing,
/// because the other PEs do not take part; the end of the job frees the memory.
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

}  // namespace gdrkit::shmem

#endif
