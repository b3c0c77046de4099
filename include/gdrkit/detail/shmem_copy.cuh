// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copies by a group of threads, and operations on another PE's copy of an object. Included by
// shmem_device_transfer.cuh.
#ifndef GDRKIT_SHMEM_COPY_CUH
#define GDRKIT_SHMEM_COPY_CUH

#include <gdrkit/detail/shmem_access.cuh>
#include <gdrkit/detail/shmem_proxy.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gdrkit::shmem::detail {

struct alignas(16) Words16 {
  std::uint32_t words[4];
};

/// How copies read: `ordinary` for memory that this GPU writes, or that was written before a wait ended; `fresh`
/// bypasses the caches that other GPUs' stores do not invalidate.
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

/// Copies whole words, four per thread at a time while enough are left: one at a time does not saturate a link.
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

/// Copies the bytes after `done`, in one thread.
template <Reads reads>
GDRKIT_SHMEM_FUNCTION void copy_rest(char* target, const char* source, std::size_t done, std::size_t size_bytes) {
  done = copy_word<reads, std::uint64_t>(target, source, done, size_bytes);
  done = copy_word<reads, std::uint32_t>(target, source, done, size_bytes);
  done = copy_word<reads, std::uint16_t>(target, source, done, size_bytes);
  (void)copy_word<reads, unsigned char>(target, source, done, size_bytes);
}

/// Copies by the widest words of at most 8 bytes for which both addresses are aligned.
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

/// Copies by the widest words for which both addresses are aligned; one thread copies the rest. So a naturally aligned
/// word of 2, 4 or 8 bytes is one access.
template <Reads reads, class Group>
GDRKIT_SHMEM_FUNCTION void copy(char* target, const char* source, std::size_t size_bytes, Group group) {
  const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
  if (size_bytes == sizeof(std::uint64_t) && both % sizeof(std::uint64_t) == 0) {  // the most frequent message
    if (group.rank() == 0) (void)copy_word<reads, std::uint64_t>(target, source, 0, size_bytes);
    return;
  }
  if (both % sizeof(Words16) != 0) {
    copy_narrow<reads>(target, source, size_bytes, group);
    return;
  }
  copy_words<reads, Words16>(target, source, size_bytes / sizeof(Words16), group);
  const std::size_t done = size_bytes / sizeof(Words16) * sizeof(Words16);
  // The rest starts at a multiple of 16 bytes, so narrower words are aligned.
  if (done != size_bytes && group.rank() == 0) copy_rest<reads>(target, source, done, size_bytes);
}

/// Returns the address of the copy of `address` in the heap that is `heaps` strides away.
template <class T>
GDRKIT_SHMEM_FUNCTION T* address_in_heap(const State& state, T* address, std::int64_t heaps) {
  const auto distance = heaps * static_cast<std::int64_t>(state.stride_bytes);
  return in_global_memory(
      reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(distance)));
}
/// Returns the address of PE `pe`'s copy. Requires that the GPU can access the PE. Without a proxy, all PEs are on this
/// node, and PE numbers are slot numbers.
template <class T>
GDRKIT_SHMEM_FUNCTION T* address_on_pe(const State& state, T* address, int pe) {
  std::int64_t heaps = pe - state.pe;
  if (state.proxy_address != 0) heaps = heaps_between(proxy_of(state), pe);
  return address_in_heap(state, address, heaps);
}
/// Performs an operation of a few instructions on PE `pe`'s copy of `address`: direct(copy), or by_proxy() if only the
/// proxy can access it. A job on one node executes one branch.
template <class T, class Direct, class ByProxy>
GDRKIT_SHMEM_FUNCTION auto on_pe(const State& state, T* address, int pe, Direct direct, ByProxy by_proxy) {
  if (state.proxy_address == 0) return direct(address_in_heap(state, address, pe - state.pe));
  const std::int64_t heaps = heaps_between(proxy_of(state), pe);
  return heaps == not_mapped ? by_proxy() : direct(address_in_heap(state, address, heaps));
}

/// Returns update(the copy's bits), or the result of the same operation by the proxy.
template <class Word, class Update>
GDRKIT_SHMEM_FUNCTION Word update_on_pe(const State& state, Word* target, gdrkit_shmem_atomic_operation operation,
                                        Word value, Word compare, int pe, ProxyWait wait, Update update) {
  static_assert(std::is_integral_v<Word> && (sizeof(Word) == 4 || sizeof(Word) == 8), "an integer of 4 or 8 bytes");
  return on_pe(
      state, target, pe, [&](Word* there) { return static_cast<Word>(update(reinterpret_cast<Bits<Word>*>(there))); },
      [&] { return update_by_proxy(state, target, operation, value, compare, pe, wait); });
}

}  // namespace gdrkit::shmem::detail

#endif
