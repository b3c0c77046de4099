// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem for C++20: a job, symmetric buffers and spans over gdrkit/shmem.h that throw gdrkit::Error. Header-only;
// link libgdrkit_shmem.
#ifndef GDRKIT_SHMEM_HPP
#define GDRKIT_SHMEM_HPP

#include <gdrkit/shmem.h>
#include <gdrkit/gdrkit.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <optional>
#include <stdexcept>

// Collective functions say so: all PEs call them in the same order. All others are one-sided. Calls are for the calling
// thread's PE (gdrkit/shmem.h): a thread that neither made a Job nor called its use() uses the process's only one.

namespace gdrkit::shmem {

enum class Comparison : int {
  equal = GDRKIT_SHMEM_EQ,
  not_equal = GDRKIT_SHMEM_NE,
  greater = GDRKIT_SHMEM_GT,
  less_equal = GDRKIT_SHMEM_LE,
  less = GDRKIT_SHMEM_LT,
  greater_equal = GDRKIT_SHMEM_GE,
};
enum class Signal : int { set = GDRKIT_SHMEM_SIGNAL_SET, add = GDRKIT_SHMEM_SIGNAL_ADD };

namespace hpp_detail {

inline int check(int result) {
  if (result < 0) throw Error(-result, gdrkit_shmem_last_error());
  return result;
}

}  // namespace hpp_detail

/// What waits, tests and atomic operations work on.
template <class T>
concept WordValue = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

/// Objects of the symmetric heap: the caller's own address of them, which names every PE's copy. Not dereferenced by
/// the CPU; GPU kernels may. A view, as std::span is.
template <class T>
class SymmetricSpan {
  static_assert(std::is_trivially_copyable_v<T>, "what is copied byte by byte");

 public:
  SymmetricSpan(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Throws std::out_of_range.
  [[nodiscard]] SymmetricSpan subspan(std::size_t offset, std::size_t count) const {
    if (offset > size_ || count > size_ - offset) throw std::out_of_range("a part reaches over the end of its span");
    return {data_ + offset, count};
  }
  [[nodiscard]] SymmetricSpan operator[](std::size_t index) const { return subspan(index, 1); }
  /// Where this process's GPU reaches PE `pe`'s copy; nullptr for a PE whose memory it does not reach.
  [[nodiscard]] T* at_pe(int pe) const {
    void* pointer = nullptr;
    const int result = gdrkit_shmem_ptr(data_, pe, &pointer);
    if (result != -EOPNOTSUPP) hpp_detail::check(result);
    return static_cast<T*>(pointer);
  }

  /// To the first elements of PE `pe`'s copy. The source may be written again when it returns.
  template <Bytes Source>
  void put(const Source& source, int pe) const {
    hpp_detail::check(gdrkit_shmem_put(data_, std::ranges::data(source), bytes_of(source), pe));
  }
  /// From the first elements of PE `pe`'s copy.
  template <Bytes Target>
  void get(Target&& target, int pe) const {
    hpp_detail::check(gdrkit_shmem_get(std::ranges::data(target), data_, bytes_of(target), pe));
  }
  /// Whoever sees the signal's word sees the data.
  template <Bytes Source>
  void put_signal(const Source& source, const SymmetricSpan<std::uint64_t>& word, std::uint64_t value, int pe,
                  Signal operation = Signal::set) const {
    word.require_one();
    hpp_detail::check(gdrkit_shmem_put_signal(data_, std::ranges::data(source), bytes_of(source), word.data(), value,
                                              static_cast<gdrkit_shmem_signal>(operation), pe));
  }
  /// In the order of a stream (a CUstream or cudaStream_t); the source stays as it is until the stream has passed.
  template <Bytes Source>
  void put_on_stream(const Source& source, int pe, void* stream) const {
    hpp_detail::check(gdrkit_shmem_put_on_stream(data_, std::ranges::data(source), bytes_of(source), pe, stream));
  }
  template <Bytes Target>
  void get_on_stream(Target&& target, int pe, void* stream) const {
    hpp_detail::check(gdrkit_shmem_get_on_stream(std::ranges::data(target), data_, bytes_of(target), pe, stream));
  }

  // Of a span of one element.

  void store(const T& value, int pe) const {
    require_one();
    hpp_detail::check(gdrkit_shmem_put(data_, &value, sizeof value, pe));
  }
  [[nodiscard]] T load(int pe) const {
    require_one();
    T value;
    hpp_detail::check(gdrkit_shmem_get(&value, data_, sizeof value, pe));
    return value;
  }
  /// Of the caller's own copy.
  void wait_until(Comparison comparison, T value) const requires WordValue<T> {
    require_one();
    hpp_detail::check(gdrkit_shmem_wait_until(data_, word(), as_c(comparison), static_cast<std::uint64_t>(value)));
  }
  [[nodiscard]] bool test(Comparison comparison, T value) const requires WordValue<T> {
    require_one();
    return hpp_detail::check(gdrkit_shmem_test(data_, word(), as_c(comparison), static_cast<std::uint64_t>(value))) !=
           0;
  }
  T fetch_add(T value, int pe) const requires WordValue<T> { return update(GDRKIT_SHMEM_ATOMIC_ADD, value, T{}, pe); }
  T swap(T value, int pe) const requires WordValue<T> { return update(GDRKIT_SHMEM_ATOMIC_SWAP, value, T{}, pe); }
  T compare_swap(T compare, T value, int pe) const requires WordValue<T> {
    return update(GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, value, compare, pe);
  }

  /// Throws std::length_error unless the span has one element.
  void require_one() const {
    if (size_ != 1) throw std::length_error("this needs a span of one element: span[index]");
  }

 private:
  template <class Range>
  [[nodiscard]] std::size_t bytes_of(const Range& range) const {
    static_assert(std::is_same_v<std::ranges::range_value_t<Range>, std::remove_const_t<T>>,
                  "elements of another type than the span's");
    const std::size_t count = std::ranges::size(range);
    if (count > size_) throw std::out_of_range("more elements than the symmetric span has");
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

/// Owns objects of the symmetric heap. Making and destroying are collective; a destructor that runs because of an
/// exception frees nothing, as the other PEs do not come: finalizing does.
template <class T, int (*Free)(void*) = &gdrkit_shmem_free>
class SymmetricBuffer {
 public:
  SymmetricBuffer(SymmetricBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SymmetricBuffer& operator=(SymmetricBuffer&& other) noexcept {
    SymmetricBuffer taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;
  }
  ~SymmetricBuffer() {
    if (data_ != nullptr && std::uncaught_exceptions() == 0) (void)Free(data_);
  }

  [[nodiscard]] SymmetricSpan<T> span() const noexcept { return {data_, size_}; }
  [[nodiscard]] SymmetricSpan<T> operator[](std::size_t index) const { return span()[index]; }
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Collective: frees now and throws if that fails; the destructor frees in silence.
  void free() {
    size_ = 0;
    hpp_detail::check(Free(std::exchange(data_, nullptr)));
  }

 private:
  friend class Job;
  SymmetricBuffer(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

  T* data_;
  std::size_t size_;
};

/// Memory of the program's own that is symmetric while this lives: unregistered in place of freed.
template <class T>
using RegisteredBuffer = SymmetricBuffer<T, &gdrkit_shmem_buffer_unregister_symmetric>;

/// Zero or empty: as the launcher's environment and the environment variables say.
struct JobOptions {
  int n_pes = 0;
  int pe = 0;
  std::optional<int> device;  ///< as CUDA counts
  std::chrono::milliseconds timeout{0};
  std::optional<gdrkit_shmem_unique_id_t> unique_id;
  gdrkit_shmem_allgather_t allgather = nullptr;
  void* allgather_argument = nullptr;
  std::uint64_t heap_bytes = 0;
  std::uint64_t heap_max_bytes = 0;
};

/// For PE 0's process, which sends it to all others.
[[nodiscard]] inline gdrkit_shmem_unique_id_t make_unique_id() {
  gdrkit_shmem_unique_id_t id{};
  hpp_detail::check(gdrkit_shmem_get_unique_id(&id));
  return id;
}

/// One PE of a job, and the calling thread's from now on. Making and destroying are collective. Buffers must go first.
class Job {
 public:
  Job() : Job(JobOptions{}) {}
  explicit Job(const JobOptions& options) {
    gdrkit_shmem_options given{};
    given.struct_size = sizeof given;
    given.n_pes = options.n_pes;
    given.pe = options.pe;
    given.has_device = options.device ? 1 : 0;
    given.device = options.device.value_or(0);
    given.timeout_ms = static_cast<std::uint32_t>(options.timeout.count());
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
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Waits for all PEs, unless it runs because of an exception: then this PE's end ends the others' waits.
  ~Job() {
    if (handle_.value == 0 || std::uncaught_exceptions() != 0) return;
    if (gdrkit_shmem_use(handle_) == 0) (void)gdrkit_shmem_finalize();
  }
  /// Collective: finalizes now and throws if that fails; the destructor does so in silence.
  void finalize() {
    use();
    handle_ = {};
    hpp_detail::check(gdrkit_shmem_finalize());
  }

  [[nodiscard]] int pe() const noexcept { return pe_; }
  [[nodiscard]] int n_pes() const noexcept { return n_pes_; }
  /// The calling thread's calls are for this PE from now on.
  void use() const { hpp_detail::check(gdrkit_shmem_use(handle_)); }
  [[nodiscard]] gdrkit_shmem_info info() const {
    gdrkit_shmem_info info{};
    info.struct_size = sizeof info;
    hpp_detail::check(gdrkit_shmem_get_info(&info));
    return info;
  }
  /// For GPU kernels (gdrkit/shmem_device.cuh).
  [[nodiscard]] gdrkit_shmem_device_state device_state() const {
    gdrkit_shmem_device_state state{};
    hpp_detail::check(gdrkit_shmem_get_device_state(&state));
    return state;
  }
  /// Zero: none.
  void set_timeout(std::chrono::milliseconds timeout) const {
    hpp_detail::check(gdrkit_shmem_set_timeout(static_cast<std::uint32_t>(timeout.count())));
  }

  /// Collective; zeroed.
  template <class T>
  [[nodiscard]] SymmetricBuffer<T> allocate(std::size_t count) const {
    void* data = nullptr;
    hpp_detail::check(gdrkit_shmem_calloc(count, sizeof(T), &data));
    return {static_cast<T*>(data), count};
  }

  /// Collective: a buffer of the caller's GPU memory, of a kind that can be shared
  /// (gdrkit_shmem_buffer_register_symmetric).
  template <class T>
  [[nodiscard]] RegisteredBuffer<T> register_symmetric(T* buffer, std::size_t count) const {
    if (count > SIZE_MAX / sizeof(T)) throw std::length_error("a buffer of more bytes than there are");
    void* data = nullptr;
    hpp_detail::check(gdrkit_shmem_buffer_register_symmetric(buffer, count * sizeof(T), &data));
    return {static_cast<T*>(data), count};
  }

  void fence() const { hpp_detail::check(gdrkit_shmem_fence()); }
  void quiet() const { hpp_detail::check(gdrkit_shmem_quiet()); }
  void barrier() const { hpp_detail::check(gdrkit_shmem_barrier_all()); }  ///< collective; completes everything
  void sync() const { hpp_detail::check(gdrkit_shmem_sync_all()); }        ///< collective; completes nothing

 private:
  gdrkit_shmem_pe_t handle_{};
  int pe_ = 0;
  int n_pes_ = 1;
};

}  // namespace gdrkit::shmem

#endif
