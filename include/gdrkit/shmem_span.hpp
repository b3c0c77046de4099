// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
/// @file
/// @brief SymmetricSpan: a view of objects in the symmetric heap. Included by gdrkit/shmem.hpp.
#ifndef GDRKIT_SHMEM_SPAN_HPP
#define GDRKIT_SHMEM_SPAN_HPP

#include <gdrkit/shmem.h>
#include <gdrkit/detail/shmem_checks.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <type_traits>

namespace gdrkit::shmem {

/// @brief How a word is compared with a value.
enum class Comparison : int {
  equal = GDRKIT_SHMEM_EQ,          ///< word == value
  not_equal = GDRKIT_SHMEM_NE,      ///< word != value
  greater = GDRKIT_SHMEM_GT,        ///< word > value
  less_equal = GDRKIT_SHMEM_LE,     ///< word <= value
  less = GDRKIT_SHMEM_LT,           ///< word < value
  greater_equal = GDRKIT_SHMEM_GE,  ///< word >= value
};
/// @brief How a signal changes its word.
enum class Signal : int {
  set = GDRKIT_SHMEM_SIGNAL_SET,  ///< word = value
  add = GDRKIT_SHMEM_SIGNAL_ADD,  ///< word += value
};

/// @brief An integer of 4 or 8 bytes: the operand of waits, tests and atomic operations.
template <class T>
concept WordValue = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// @brief A view of objects in the symmetric heap, like std::span. It does not own them.
///
/// It holds the address of the caller's copy, which names every PE's copy. The CPU must not dereference the address;
/// GPU kernels may.
/// @tparam T Trivially copyable type of the elements, not a pointer. A span of const elements is read-only.
/// @note Thread-safe.
template <class T>
class SymmetricSpan {
  static_assert(hpp_detail::check_element<T>());

 public:
  /// @brief Makes a span of `size` elements.
  /// @param[in] data Address of the first element in the caller's heap.
  /// @param[in] size Number of elements.
  SymmetricSpan(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  /// @brief Returns the address of the first element in the caller's heap.
  /// @return Address of the first element.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// @brief Returns the number of elements.
  /// @return Number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// @brief Returns a part of the span.
  /// @param[in] offset Index of the part's first element.
  /// @param[in] count Number of elements of the part.
  /// @return The part.
  /// @throw std::out_of_range if the part exceeds the span.
  [[nodiscard]] SymmetricSpan subspan(std::size_t offset, std::size_t count) const {
    if (offset > size_ || count > size_ - offset) throw std::out_of_range("the part exceeds the symmetric span");
    return {data_ + offset, count};
  }
  /// @brief Returns the span of one element.
  /// @param[in] index Index of the element.
  /// @return Span of the element.
  /// @throw std::out_of_range if `index` is not less than size().
  [[nodiscard]] SymmetricSpan operator[](std::size_t index) const { return subspan(index, 1); }
  /// @brief Returns the address at which this process's GPU accesses PE `pe`'s copy.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @return The address, or nullptr for a PE whose memory this GPU cannot access.
  /// @throw Error EINVAL if `pe` is out of range or the span is not in the symmetric heap.
  [[nodiscard]] T* at_pe(int pe) const {
    void* pointer = nullptr;
    const int result = gdrkit_shmem_ptr(data_, pe, &pointer);
    if (result != -EOPNOTSUPP) hpp_detail::check(result);
    return static_cast<T*>(pointer);
  }

  /// @brief Copies `source` to the first elements of PE `pe`'s copy. See gdrkit_shmem_put.
  /// @param[in] source Contiguous range of T in host memory, or memory of this GPU. May be reused after the call.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @throw std::out_of_range if the source has more elements than the span.
  /// @throw Error with an errno of gdrkit_shmem_put.
  template <hpp_detail::ContiguousRange Source>
  void put(Source&& source, int pe) const {
    static_assert(hpp_detail::check_source<T, Source>());
    hpp_detail::check(gdrkit_shmem_put(data_, std::ranges::data(source), bytes_of(source), pe));
  }
  /// @brief Copies the first elements of PE `pe`'s copy to `target`. See gdrkit_shmem_get.
  /// @param[out] target Contiguous range of T in host memory, or memory of this GPU. It sets the number of elements.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @throw std::out_of_range if the target has more elements than the span.
  /// @throw Error with an errno of gdrkit_shmem_get.
  template <hpp_detail::ContiguousRange Target>
  void get(Target&& target, int pe) const {
    static_assert(hpp_detail::check_target<T, Target>());
    hpp_detail::check(gdrkit_shmem_get(std::ranges::data(target), data_, bytes_of(target), pe));
  }
  /// @brief Puts `source`, then updates a signal word at the same PE. See gdrkit_shmem_put_signal.
  /// @param[in] source Contiguous range of T. May be reused after the call.
  /// @param[in] word Span of one signal word.
  /// @param[in] value Operand of the signal.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @param[in] operation How the signal changes its word.
  /// @throw std::out_of_range if the source has more elements than the span.
  /// @throw std::length_error if `word` does not have exactly one element.
  /// @throw Error with an errno of gdrkit_shmem_put_signal.
  /// @note A PE that observes the new value of the word also observes the data.
  template <hpp_detail::ContiguousRange Source>
  void put_signal(Source&& source, const SymmetricSpan<std::uint64_t>& word, std::uint64_t value, int pe,
                  Signal operation = Signal::set) const {
    static_assert(hpp_detail::check_source<T, Source>());
    word.require_one();
    hpp_detail::check(gdrkit_shmem_put_signal(data_, std::ranges::data(source), bytes_of(source), word.data(), value,
                                              static_cast<gdrkit_shmem_signal>(operation), pe));
  }
  /// @brief Puts `source` in the order of a stream. See gdrkit_shmem_put_on_stream.
  /// @param[in] source Contiguous range of T. It must not change until the stream completes the put.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @param[in] stream A CUstream or cudaStream_t; nullptr: CUDA's legacy default stream.
  /// @throw std::out_of_range if the source has more elements than the span.
  /// @throw Error with an errno of gdrkit_shmem_put_on_stream.
  template <hpp_detail::ContiguousRange Source>
  void put_on_stream(Source&& source, int pe, void* stream) const {
    static_assert(hpp_detail::check_source<T, Source>());
    static_assert(std::ranges::borrowed_range<Source>,
                  "the source is a temporary object: it is destroyed before the stream reads it");
    hpp_detail::check(gdrkit_shmem_put_on_stream(data_, std::ranges::data(source), bytes_of(source), pe, stream));
  }
  /// @brief Copies the first elements of PE `pe`'s copy to `target` in the order of a stream. See
  /// gdrkit_shmem_get_on_stream.
  /// @param[out] target Contiguous range of T. Its contents are undefined until the stream completes the get.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @param[in] stream A CUstream or cudaStream_t; nullptr: CUDA's legacy default stream.
  /// @throw std::out_of_range if the target has more elements than the span.
  /// @throw Error with an errno of gdrkit_shmem_get_on_stream.
  template <hpp_detail::ContiguousRange Target>
  void get_on_stream(Target&& target, int pe, void* stream) const {
    static_assert(hpp_detail::check_target<T, Target>());
    hpp_detail::check(gdrkit_shmem_get_on_stream(std::ranges::data(target), data_, bytes_of(target), pe, stream));
  }

  /// @name Functions of a span of one element
  /// They throw std::length_error if the span has another number of elements: use `span[index]`.
  /// @{

  /// @brief Stores a value in PE `pe`'s copy.
  /// @param[in] value Value, of the span's element type.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @throw Error with an errno of gdrkit_shmem_put.
  void store(const T& value, int pe) const requires(!std::is_const_v<T>) {
    require_one();
    hpp_detail::check(gdrkit_shmem_put(data_, &value, sizeof value, pe));
  }
  /// @brief Returns the value of PE `pe`'s copy.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @return The value.
  /// @throw Error with an errno of gdrkit_shmem_get.
  [[nodiscard]] std::remove_const_t<T> load(int pe) const {
    require_one();
    std::remove_const_t<T> value;
    hpp_detail::check(gdrkit_shmem_get(&value, data_, sizeof value, pe));
    return value;
  }
  /// @brief Waits until the caller's copy satisfies a comparison.
  /// @param[in] comparison The comparison; signed or unsigned according to T.
  /// @param[in] value Right operand of the comparison.
  /// @throw Error ETIMEDOUT after the PE's time limit, ECONNRESET if another PE has ended.
  void wait_until(Comparison comparison, T value) const requires WordValue<T> {
    require_one();
    hpp_detail::check(gdrkit_shmem_wait_until(data_, word(), as_c(comparison), static_cast<std::uint64_t>(value)));
  }
  /// @brief Returns whether the caller's copy satisfies a comparison now.
  /// @param[in] comparison The comparison; signed or unsigned according to T.
  /// @param[in] value Right operand of the comparison.
  /// @return true if it does.
  /// @throw Error with an errno of gdrkit_shmem_test.
  [[nodiscard]] bool test(Comparison comparison, T value) const requires WordValue<T> {
    require_one();
    return hpp_detail::check(gdrkit_shmem_test(data_, word(), as_c(comparison), static_cast<std::uint64_t>(value))) !=
           0;
  }
  /// @brief Adds a value to PE `pe`'s copy atomically.
  /// @param[in] value Value to add.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @return The value before the operation.
  /// @throw Error with an errno of gdrkit_shmem_atomic.
  T fetch_add(T value, int pe) const requires WordValue<T> { return update(GDRKIT_SHMEM_ATOMIC_ADD, value, T{}, pe); }
  /// @brief Replaces PE `pe`'s copy atomically.
  /// @param[in] value New value.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @return The value before the operation.
  /// @throw Error with an errno of gdrkit_shmem_atomic.
  T swap(T value, int pe) const requires WordValue<T> { return update(GDRKIT_SHMEM_ATOMIC_SWAP, value, T{}, pe); }
  /// @brief Replaces PE `pe`'s copy atomically if it is equal to `compare`.
  /// @param[in] compare Value that the copy must have to be replaced.
  /// @param[in] value New value.
  /// @param[in] pe PE number, 0 to n_pes - 1.
  /// @return The value before the operation; equal to `compare` if the copy was replaced.
  /// @throw Error with an errno of gdrkit_shmem_atomic.
  T compare_swap(T compare, T value, int pe) const requires WordValue<T> {
    return update(GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, value, compare, pe);
  }
  /// @}

  /// @brief Checks that the span has one element.
  /// @throw std::length_error if it has another number of elements.
  void require_one() const {
    if (size_ != 1) throw std::length_error("the function requires a span of one element: use span[index]");
  }

 private:
  template <class Range>
  [[nodiscard]] std::size_t bytes_of(Range& range) const {
    const std::size_t count = std::ranges::size(range);
    if (count > size_) throw std::out_of_range("the range has more elements than the symmetric span");
    return count * sizeof(T);
  }
  static constexpr gdrkit_shmem_word word() noexcept {
    return static_cast<gdrkit_shmem_word>(std::is_signed_v<T> ? -static_cast<int>(sizeof(T)) : int{sizeof(T)});
  }
  static constexpr gdrkit_shmem_comparison as_c(Comparison comparison) noexcept {
    return static_cast<gdrkit_shmem_comparison>(comparison);
  }
  T update(gdrkit_shmem_atomic_operation operation, T value, T compare, int pe) const {
    require_one();
    std::uint64_t before = 0;
    hpp_detail::check(gdrkit_shmem_atomic(data_, sizeof(T), operation, static_cast<std::uint64_t>(value),
                                          static_cast<std::uint64_t>(compare), &before, pe));
    return static_cast<T>(before);
  }

  T* data_;
  std::size_t size_;
};

}  // namespace gdrkit::shmem

#endif
