// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Spread: copies from one PE to all members of a team. Included by shmem_collectives_large.cuh.
#ifndef GDRKIT_SHMEM_SPREAD_CUH
#define GDRKIT_SHMEM_SPREAD_CUH

#include <gdrkit/detail/shmem_team.cuh>

namespace gdrkit::shmem::detail {

/// How many words a thread has on their way at a time. Narrow words are for what is not aligned, and for ends.
template <class Word>
GDRKIT_SHMEM_ANYWHERE unsigned unrolled_for() {
  return sizeof(Word) == 16 ? 4 : 1;
}

template <Reads reads, class Group>
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION void spread_narrow(Members<Group> members, Group group, unsigned but,
                                                               unsigned nor, char* target, const char* source,
                                                               std::size_t size_bytes);

/// Reads once, and writes to every member but the two named ones (n() or more: no member).
template <class Group>
struct Spread {
  Members<Group> members;
  Group group;
  unsigned but;
  unsigned nor;

  template <Reads reads, unsigned unrolled, class Word>
  GDRKIT_SHMEM_FUNCTION void write(Word* target, const Word* source, std::size_t at) const {
    const std::size_t step = group.size();
    Word words[unrolled];
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < unrolled; ++i) words[i] = read<reads>(source + at + i * step);
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance <= members.n; ++distance) {
      const unsigned member = members.next(distance);
      if (member == but || member == nor) continue;
      Word* const to = members.at(target + at, member);
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) to[i * step] = words[i];
    }
  }

  template <Reads reads, class Word>
  GDRKIT_SHMEM_FUNCTION void words(char* target, const char* source, std::size_t size_bytes) const {
    constexpr unsigned unrolled = unrolled_for<Word>();
    auto* const to = reinterpret_cast<Word*>(target);
    const auto* const from = reinterpret_cast<const Word*>(source);
    const std::size_t count = size_bytes / sizeof(Word), step = group.size();
    std::size_t at = group.rank();
    GDRKIT_SHMEM_ROLLED
    for (; at + (unrolled - 1) * step < count; at += unrolled * step) write<reads, unrolled>(to, from, at);
    if constexpr (unrolled > 1) {
      GDRKIT_SHMEM_ROLLED
      for (; at < count; at += step) write<reads, 1>(to, from, at);
    }
  }

  template <Reads reads>
  GDRKIT_SHMEM_FUNCTION void bytes(char* target, const char* source, std::size_t size_bytes) const {
    const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
    const std::size_t whole = both % 16 == 0 ? size_bytes / 16 * 16 : 0;
    words<reads, Words16>(target, source, whole);
    if (whole != size_bytes) {
      spread_narrow<reads>(members, group, but, nor, target + whole, source + whole, size_bytes - whole);
    }
  }
};

/// Copies words of 4 bytes or 1 byte. All arguments are values: an argument by reference would force the parameters of
/// a GPU kernel into local memory, where each use is a load.
template <Reads reads, class Group>
GDRKIT_SHMEM_FUNCTION void spread_narrow(Members<Group> members, Group group, unsigned but, unsigned nor, char* target,
                                         const char* source, std::size_t size_bytes) {
  const Spread<Group> spread{members, group, but, nor};
  const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
  const std::size_t whole = both % 4 == 0 ? size_bytes / 4 * 4 : 0;
  spread.template words<reads, std::uint32_t>(target, source, whole);
  spread.template words<reads, unsigned char>(target + whole, source + whole, size_bytes - whole);
}

}  // namespace gdrkit::shmem::detail

#endif
