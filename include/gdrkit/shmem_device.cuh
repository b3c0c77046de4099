// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem for GPU kernels: puts, gets, signals, atomics, ordering and barriers, by loads and stores between GPUs
// that reach each other (NVLink, PCIe peer access), through a thread of the PE to other machines. Header-only, C++17;
// compiles without relocatable device code, and by an ordinary C++ compiler too, for host threads that play GPU kernels
// on the emulated device.
//
//   __global__ void send(gdrkit_shmem_device_state pe, float* target, const float* source, uint64_t* signal) {
//     gdrkit::shmem::put_signal(pe, target, source, 4096, signal, 1, (pe.pe + 1) % pe.n_pes, gdrkit::shmem::block());
//   }
//
// The host fills the state (gdrkit_shmem_get_device_state). Addresses are of the caller's own symmetric heap, as on the
// host; nothing is checked. Functions with a group must be called by all its threads with the same arguments.
#ifndef GDRKIT_SHMEM_DEVICE_CUH
#define GDRKIT_SHMEM_DEVICE_CUH

#include <gdrkit/detail/shmem_access.cuh>
#include <gdrkit/detail/shmem_proxy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gdrkit::shmem {

// Groups: which threads do one operation together.

/// The calling thread alone.
struct ThreadGroup {
  GDRKIT_SHMEM_FUNCTION unsigned rank() const { return 0; }
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return 1; }
  GDRKIT_SHMEM_FUNCTION void sync() const {}
  /// A barrier of the group that returns whether all its threads say so.
  GDRKIT_SHMEM_FUNCTION bool all(bool is_so) const { return is_so; }
};
GDRKIT_SHMEM_FUNCTION ThreadGroup thread() { return {}; }

#if defined(__CUDACC__)
/// All 32 threads of a warp.
struct WarpGroup {
  GDRKIT_SHMEM_FUNCTION unsigned rank() const {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
  }
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return 32; }
  GDRKIT_SHMEM_FUNCTION void sync() const { __syncwarp(); }
  GDRKIT_SHMEM_FUNCTION bool all(bool is_so) const {
    const bool are_all = __all_sync(0xffffffff, is_so) != 0;
    __syncwarp();  // the vote orders no memory
    return are_all;
  }
};
GDRKIT_SHMEM_FUNCTION WarpGroup warp() { return {}; }

/// All threads of a block.
struct BlockGroup {
  GDRKIT_SHMEM_FUNCTION unsigned rank() const {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  GDRKIT_SHMEM_FUNCTION unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
  GDRKIT_SHMEM_FUNCTION void sync() const { __syncthreads(); }
  GDRKIT_SHMEM_FUNCTION bool all(bool is_so) const { return __syncthreads_and(is_so) != 0; }
};
GDRKIT_SHMEM_FUNCTION BlockGroup block() { return {}; }
#endif

// Copies.
namespace detail {

struct alignas(16) Words16 {
  std::uint32_t words[4];
};

/// How copies read: `ordinary` for memory that is written by this GPU, or was before a wait that ended; `fresh` past
/// the caches that other GPUs' stores do not reach.
enum class Reads { ordinary, fresh };

template <Reads reads, class Word>
GDRKIT_SHMEM_FUNCTION Word read(const Word* address) {
  if constexpr (reads == Reads::ordinary) return *address;
#if defined(__CUDACC__)
  else if constexpr (sizeof(Word) == 16) {
    Word value;
    asm volatile("ld.volatile.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.words[0]), "=r"(value.words[1]), "=r"(value.words[2]), "=r"(value.words[3])
                 : "l"(address)
                 : "memory");
    return value;
  } else {
    return *static_cast<const volatile Word*>(address);
  }
#else
  else {
    return *address;
  }
#endif
}

/// Copies whole words, four at a time where there are enough: one at a time does not fill a link.
template <Reads reads, class Word, class Group>
GDRKIT_SHMEM_FUNCTION void copy_words(char* target, const char* source, std::size_t count, Group group) {
  auto* const to = reinterpret_cast<Word*>(target);
  const auto* const from = reinterpret_cast<const Word*>(source);
  const std::size_t step = group.size();
  std::size_t at = group.rank();
  GDRKIT_SHMEM_ROLLED
  for (; at + 3 * step < count; at += 4 * step) {
    const Word first = read<reads>(from + at), second = read<reads>(from + at + step);
    const Word third = read<reads>(from + at + 2 * step), fourth = read<reads>(from + at + 3 * step);
    to[at] = first;
    to[at + step] = second;
    to[at + 2 * step] = third;
    to[at + 3 * step] = fourth;
  }
  GDRKIT_SHMEM_ROLLED
  for (; at < count; at += step) to[at] = read<reads>(from + at);
}

template <Reads reads, class Word>
GDRKIT_SHMEM_FUNCTION std::size_t copy_word(char* target, const char* source, std::size_t at, std::size_t size_bytes) {
  if (size_bytes - at < sizeof(Word)) return at;
  *reinterpret_cast<Word*>(target + at) = read<reads>(reinterpret_cast<const Word*>(source + at));
  return at + sizeof(Word);
}

/// What is left after whole words of more bytes, by one thread.
template <Reads reads>
GDRKIT_SHMEM_FUNCTION void copy_rest(char* target, const char* source, std::size_t done, std::size_t size_bytes) {
  done = copy_word<reads, std::uint64_t>(target, source, done, size_bytes);
  done = copy_word<reads, std::uint32_t>(target, source, done, size_bytes);
  done = copy_word<reads, std::uint16_t>(target, source, done, size_bytes);
  (void)copy_word<reads, unsigned char>(target, source, done, size_bytes);
}

/// By the widest words that both addresses allow, of 8 bytes or less.
template <Reads reads, class Group>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION void copy_narrow(char* target, const char* source, std::size_t size_bytes,
                                                             Group group) {
  const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
  std::size_t done = size_bytes;
  if (both % 8 == 0) {
    copy_words<reads, std::uint64_t>(target, source, size_bytes / 8, group);
    done = size_bytes / 8 * 8;
  } else if (both % 4 == 0) {
    copy_words<reads, std::uint32_t>(target, source, size_bytes / 4, group);
    done = size_bytes / 4 * 4;
  } else if (both % 2 == 0) {
    copy_words<reads, std::uint16_t>(target, source, size_bytes / 2, group);
    done = size_bytes / 2 * 2;
  } else {
    copy_words<reads, unsigned char>(target, source, size_bytes, group);
  }
  if (done != size_bytes && group.rank() == 0) copy_rest<reads>(target, source, done, size_bytes);
}

/// By the widest words that both addresses allow; what is left at the end, by one thread. So a naturally aligned word
/// of 2, 4 or 8 bytes is one access.
template <Reads reads, class Group>
GDRKIT_SHMEM_FUNCTION void copy(char* target, const char* source, std::size_t size_bytes, Group group) {
  const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
  if (size_bytes == sizeof(std::uint64_t) && both % sizeof(std::uint64_t) == 0) {  // the commonest message
    if (group.rank() == 0) (void)copy_word<reads, std::uint64_t>(target, source, 0, size_bytes);
    return;
  }
  if (both % sizeof(Words16) != 0) {
    copy_narrow<reads>(target, source, size_bytes, group);
    return;
  }
  copy_words<reads, Words16>(target, source, size_bytes / sizeof(Words16), group);
  const std::size_t done = size_bytes / sizeof(Words16) * sizeof(Words16);
  // Less than one of the words above is left, and it begins where one would, so narrower words are aligned.
  if (done != size_bytes && group.rank() == 0) copy_rest<reads>(target, source, done, size_bytes);
}

}  // namespace detail

// One PE's memory, from another.

namespace detail {
/// The copy of `address` that lies so many heaps further.
template <class T>
GDRKIT_SHMEM_FUNCTION T* heaps_further(const State& state, T* address, std::int64_t heaps) {
  const auto distance = heaps * static_cast<std::int64_t>(state.stride_bytes);
  return in_global_memory(
      reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(distance)));
}
/// Of a PE that is_beyond() does not name.
template <class T>
GDRKIT_SHMEM_FUNCTION T* near(const State& state, T* address, int pe) {
  std::int64_t heaps = pe - state.pe;
  if (state.proxy_address != 0) heaps = heaps_between(proxy_of(state), pe);
  return heaps_further(state, address, heaps);
}
/// What takes a few instructions, on PE `pe`'s copy of `address`: direct(copy), or by_proxy() where only the proxy
/// reaches it. One branch on the way of a job on one machine.
template <class T, class Direct, class ByProxy>
GDRKIT_SHMEM_FUNCTION auto on_pe(const State& state, T* address, int pe, Direct direct, ByProxy by_proxy) {
  if (state.proxy_address == 0) return direct(heaps_further(state, address, pe - state.pe));
  const std::int64_t heaps = heaps_between(proxy_of(state), pe);
  return heaps == beyond_reach ? by_proxy() : direct(heaps_further(state, address, heaps));
}
}  // namespace detail

/// Where this GPU reaches PE `pe`'s copy of `address`; nullptr for a PE on another machine.
template <class T>
GDRKIT_SHMEM_FUNCTION T* ptr(const State& state, T* address, int pe) {
  return state.proxy_address != 0 && detail::is_beyond(state, pe) ? nullptr : detail::near(state, address, pe);
}

/// One store, one load.
template <class T>
GDRKIT_SHMEM_FUNCTION void p(const State& state, T* target, T value, int pe) {
  detail::on_pe(
      state, target, pe, [&](T* there) { *static_cast<volatile T*>(there) = value; },
      [&] { detail::put_value_by_proxy(state, target, value, pe); });
}
template <class T>
GDRKIT_SHMEM_FUNCTION T g(const State& state, const T* source, int pe) {
  return detail::on_pe(
      state, source, pe, [&](const T* there) -> T { return *static_cast<const volatile T*>(there); },
      [&]() -> T { return detail::get_value_by_proxy(state, source, pe); });
}

// Updates of one word of 4 or 8 bytes of another PE, atomic with respect to each other, to the host's atomics and to
// other GPUs' system-scope atomics. They order nothing.

namespace detail {
/// update(its bits), or what the proxy answers that is given the same as a command.
template <class Word, class Update>
GDRKIT_SHMEM_FUNCTION Word update_on_pe(const State& state, Word* target, gdrkit_shmem_atomic_operation operation,
                                        Word value, Word compare, int pe, ProxyWait wait, Update update) {
  static_assert(std::is_integral_v<Word> && (sizeof(Word) == 4 || sizeof(Word) == 8), "an integer of 4 or 8 bytes");
  return on_pe(
      state, target, pe, [&](Word* there) { return static_cast<Word>(update(reinterpret_cast<Bits<Word>*>(there))); },
      [&] { return update_by_proxy(state, target, operation, value, compare, pe, wait); });
}
}  // namespace detail

// gdrkit::shmem::atomic_<operation>(state, target, value, pe) returns the word's value before.
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

/// Replaces the word by `value` where it holds `compare`; returns its value before.
template <class Word>
GDRKIT_SHMEM_FUNCTION Word atomic_compare_swap(const State& state, Word* target, Word compare, Word value, int pe) {
  using Bits = detail::Bits<Word>;
  return detail::update_on_pe(
      state, target, GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, value, compare, pe, detail::ProxyWait::done,
      [&](Bits* there) { return detail::compare_swap(there, static_cast<Bits>(compare), static_cast<Bits>(value)); });
}
/// Does not wait for an answer; complete after quiet.
template <class Word>
GDRKIT_SHMEM_FUNCTION void atomic_add(const State& state, Word* target, Word value, int pe) {
  (void)detail::update_on_pe(state, target, GDRKIT_SHMEM_ATOMIC_ADD, value, Word{}, pe, detail::ProxyWait::nothing,
                             [&](detail::Bits<Word>* there) {
                               detail::add(there, static_cast<detail::Bits<Word>>(value));
                               return 0;
                             });
}
template <class Word>
GDRKIT_SHMEM_FUNCTION Word atomic_fetch(const State& state, const Word* target, int pe) {
  return g(state, target, pe);
}
template <class Word>
GDRKIT_SHMEM_FUNCTION void atomic_set(const State& state, Word* target, Word value, int pe) {
  p(state, target, value, pe);
}

/// The source may be written again when this returns to all threads of the group.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                               Group group) {
  if (state.proxy_address != 0 && detail::is_beyond(state, pe)) {
    return detail::put_by_proxy(state, target, source, size_bytes, pe, nullptr, 0, GDRKIT_SHMEM_SIGNAL_SET,
                                detail::ProxyWait::begun, group);
  }
  detail::copy<detail::Reads::ordinary>(static_cast<char*>(detail::near(state, target, pe)),
                                        static_cast<const char*>(source), size_bytes, group);
  group.sync();
}
/// As put, but without the group's barrier at its end: complete after quiet by each thread.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put_nbi(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                                   Group group) {
  if (state.proxy_address != 0 && detail::is_beyond(state, pe)) {
    return detail::put_by_proxy(state, target, source, size_bytes, pe, nullptr, 0, GDRKIT_SHMEM_SIGNAL_SET,
                                detail::ProxyWait::nothing, group);
  }
  detail::copy<detail::Reads::ordinary>(static_cast<char*>(detail::near(state, target, pe)),
                                        static_cast<const char*>(source), size_bytes, group);
}
template <class Group>
GDRKIT_SHMEM_FUNCTION void get(const State& state, void* target, const void* source, std::size_t size_bytes, int pe,
                               Group group) {
  if (state.proxy_address != 0 && detail::is_beyond(state, pe))
    return detail::get_by_proxy(state, target, source, size_bytes, pe, group);
  detail::copy<detail::Reads::fresh>(static_cast<char*>(target),
                                     static_cast<const char*>(detail::near(state, source, pe)), size_bytes, group);
  group.sync();
}

/// This thread's earlier puts reach each PE before its later ones; and those of threads whose barrier came between.
GDRKIT_SHMEM_FUNCTION void fence(const State& state) {
  detail::fence_release();
  if (state.proxy_address != 0) detail::fence_by_proxy(state);
}
/// This thread's earlier puts are visible to every PE; and those of threads whose barrier came between.
GDRKIT_SHMEM_FUNCTION void quiet(const State& state) {
  detail::fence_system();
  if (state.proxy_address != 0) detail::quiet_by_proxy(state);
}
/// The earlier puts of all threads of the group: one fence for all, as a fence is cumulative.
template <class Group>
GDRKIT_SHMEM_FUNCTION void quiet(const State& state, Group group) {
  group.sync();
  if (group.rank() == 0) quiet(state);
  group.sync();
}

// Signals: 64-bit words.

/// After a fence, whoever sees the word sees what was put before.
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

/// All threads put, and one signals after all of their stores: the group's barrier orders them before its fence (a
/// fence is cumulative: PTX ISA, "Causality order").
template <class Group>
GDRKIT_SHMEM_FUNCTION void put_signal(const State& state, void* target, const void* source, std::size_t size_bytes,
                                      std::uint64_t* signal, std::uint64_t value, gdrkit_shmem_signal operation, int pe,
                                      Group group) {
  if (state.proxy_address != 0 && detail::is_beyond(state, pe)) {
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

/// As the accesses of words take it.
template <class Word>
GDRKIT_SHMEM_FUNCTION auto* unsigned_word(const Word* address) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "a word of 4 or 8 bytes");
  return reinterpret_cast<const std::conditional_t<sizeof(Word) == 4, std::uint32_t, std::uint64_t>*>(address);
}

}  // namespace detail

/// Whether the caller's own word compares as asked; then what was put before it is there.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool test(const Word* address, gdrkit_shmem_comparison comparison, Word value) {
  return detail::compares(static_cast<Word>(detail::load_acquire(detail::unsigned_word(address))), comparison, value);
}

/// Waits until the caller's own word compares as asked. false: the state's limit went by, or a PE has ended.
template <class Word>
GDRKIT_SHMEM_FUNCTION bool wait_until(const State& state, const Word* address, gdrkit_shmem_comparison comparison,
                                      Word value) {
  return detail::wait_for(state, address, [=] {
    return detail::compares(static_cast<Word>(detail::load_polled(detail::unsigned_word(address))), comparison, value);
  });
}
GDRKIT_SHMEM_FUNCTION std::uint64_t signal_fetch(const std::uint64_t* signal) { return detail::load_acquire(signal); }
GDRKIT_SHMEM_FUNCTION bool signal_wait_until(const State& state, const std::uint64_t* signal,
                                             gdrkit_shmem_comparison comparison, std::uint64_t value) {
  return wait_until(state, signal, comparison, value);
}

// Collective: one group of each PE, all of the same size of job, one barrier of a PE at a time.

/// What the barriers of a PE use of its heap.
struct SyncWords {
  std::uint64_t rounds;          ///< barriers that this PE has begun
  std::uint64_t unused[15];      ///< arrivals are on lines of their own
  std::uint64_t arrivals[1024];  ///< by PE: how many barriers it has begun
};

/// All PEs have come here, and what the group's threads did before is visible to all. false: the limit went by; then no
/// further barrier may be tried. Each PE tells each other by one store, in parallel.
template <class Group>
GDRKIT_SHMEM_FUNCTION bool barrier_all(const State& state, Group group) {
  auto* const own = reinterpret_cast<SyncWords*>(state.sync_address);
  group.sync();
  const std::uint64_t round = own->rounds + 1;
  group.sync();
  if (group.rank() == 0) own->rounds = round;
  if (state.proxy_address != 0) {
    // Before PEs of this machine hear of the barrier, what went to other machines is there.
    if (group.rank() == 0) detail::arrive_by_proxy(state, round);
    group.sync();
  }
  detail::fence_release();
  bool is_there = true;
  GDRKIT_SHMEM_ROLLED
  for (int other = static_cast<int>(group.rank()); other < state.n_pes; other += static_cast<int>(group.size())) {
    if (state.proxy_address == 0 || !detail::is_beyond(state, other)) {
      detail::store_relaxed(&detail::near(state, own, other)->arrivals[state.pe], round);
    }
  }
  GDRKIT_SHMEM_ROLLED
  for (int other = static_cast<int>(group.rank()); other < state.n_pes; other += static_cast<int>(group.size())) {
    const std::uint64_t* const arrival = &own->arrivals[other];
    is_there = is_there && detail::wait_for(state, arrival, [=] { return detail::load_polled(arrival) >= round; });
  }
  group.sync();
  return is_there;
}

}  // namespace gdrkit::shmem

#endif
