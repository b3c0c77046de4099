// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of much data: from source to target without a copy between, 16 bytes at a time, all PEs and so all links
// at once. Included by shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_COLLECTIVES_LARGE_CUH
#define GDRKIT_SHMEM_COLLECTIVES_LARGE_CUH

#include <gdrkit/detail/shmem_reductions.cuh>
#include <gdrkit/detail/shmem_spread.cuh>
#include <gdrkit/detail/shmem_turn.cuh>

namespace gdrkit::shmem::detail {

template <class Group>
class LargeTurn {
 public:
  GDRKIT_SHMEM_FUNCTION explicit LargeTurn(const Turn<Group>& turn) : turn_(turn) {}

  GDRKIT_SHMEM_FUNCTION bool fcollect(char* target, const char* source, std::size_t size_bytes) const {
    const Slice slice = turn_.slice(size_bytes);
    char* const to = target + turn_.me() * size_bytes + slice.begin;
    const char* const from = source + slice.begin;
    spread<Reads::ordinary>(to, from, slice.size_bytes, to == from ? turn_.me() : nobody, nobody);
    turn_.signal_all_done();
    return turn_.wait_for_all();
  }

  GDRKIT_SHMEM_FUNCTION bool alltoall(char* target, const char* source, std::size_t size_bytes) const {
    const Slice slice = turn_.slice(size_bytes);
    char* const to = target + turn_.me() * size_bytes + slice.begin;
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance <= turn_.n(); ++distance) {
      const unsigned member = turn_.next(distance);
      copy<Reads::ordinary>(turn_.at(to, member), source + member * size_bytes + slice.begin, slice.size_bytes,
                            turn_.group());
    }
    turn_.signal_all_done();
    return turn_.wait_for_all();
  }

  /// The root writes to all PEs.
  GDRKIT_SHMEM_FUNCTION bool broadcast(char* target, const char* source, std::size_t size_bytes, unsigned root) const {
    if (turn_.me() != root) {
      return turn_.group().all(turn_.group().rank() != 0 || turn_.wait_for(root, Turn<Group>::last_step));
    }
    const Slice slice = turn_.slice(size_bytes);
    spread<Reads::ordinary>(target + slice.begin, source + slice.begin, slice.size_bytes,
                            target == source ? root : nobody, nobody);
    turn_.signal_all_done();
    return true;
  }

  /// The root writes a different part to each PE, and each PE forwards its part to the others while the next one
  /// arrives. So the root's links carry the data once, not once per PE. `piece_bytes`: bytes in flight, a multiple
  /// of 16.
  GDRKIT_SHMEM_FUNCTION bool broadcast_in_parts(char* target, const char* source, std::size_t size_bytes, unsigned root,
                                                std::size_t piece_bytes) const {
    const Slice slice = turn_.slice(size_bytes);
    target += slice.begin;
    source += slice.begin;
    const unsigned parts = turn_.n() - 1;
    const std::size_t round_bytes = parts * piece_bytes;
    const unsigned own = part_of(turn_.me(), root);
    std::uint64_t step = 0;
    GDRKIT_SHMEM_ROLLED
    for (std::size_t at = 0; at < slice.size_bytes; at += round_bytes) {
      const std::size_t left = slice.size_bytes - at;
      const Slice round(left < round_bytes ? left : round_bytes, 0, 1);
      ++step;
      if (turn_.me() == root) {
        scatter(target + at, source + at, round.size_bytes, root, step);
        continue;
      }
      if (!turn_.group().all(turn_.group().rank() != 0 || turn_.wait_for(root, step))) return false;
      const Slice part(round.size_bytes, own, parts);
      char* const passed_on = target + at + part.begin;
      spread<Reads::fresh>(passed_on, passed_on, part.size_bytes, turn_.me(), root);
    }
    turn_.signal_all_done();
    return turn_.wait_for_all();
  }

  /// Each PE reduces one part and reads it from all: of `is_scattered`, of `size_bytes`, for itself; else its share of
  /// them, and writes the result to all. No other PE reads or writes that share, so target and source may be the same.
  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION bool reduce(char* target, const char* source, std::size_t size_bytes, bool is_scattered,
                                    Reduce reduce) const {
    const Slice part(size_bytes, is_scattered ? 0 : turn_.me(), is_scattered ? 1 : turn_.n());
    const Slice slice = turn_.slice(part.size_bytes);
    const std::size_t begin = part.begin + slice.begin;
    const std::size_t source_begin = is_scattered ? turn_.me() * size_bytes + begin : begin;
    combine(target + begin, source + source_begin, slice.size_bytes, is_scattered ? 1 : turn_.n(), reduce);
    turn_.signal_all_done();  // also that the sources have been read
    return turn_.wait_for_all();
  }

 private:
  static constexpr unsigned nobody = ~0U;

  template <Reads reads>
  GDRKIT_SHMEM_FUNCTION void spread(char* target, const char* source, std::size_t size_bytes, unsigned but,
                                    unsigned nor) const {
    Spread<Group>{turn_.members(), turn_.group(), but, nor}.template bytes<reads>(target, source, size_bytes);
  }

  /// Which part of a broadcast is `member`'s to hand on.
  GDRKIT_SHMEM_FUNCTION static unsigned part_of(unsigned member, unsigned root) {
    return member < root ? member : member - 1;
  }
  /// The parts of a round are adjacent, so that each thread has loads for several PEs on their way. Each word is read
  /// once, for another PE's target and for the root's.
  GDRKIT_SHMEM_FUNCTION void scatter(char* target, const char* source, std::size_t size_bytes, unsigned root,
                                     std::uint64_t step) const {
    const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
    if (both % 16 == 0) {
      scatter_words(reinterpret_cast<Words16*>(target), reinterpret_cast<const Words16*>(source), size_bytes, root);
    } else {
      scatter_parts(target, source, size_bytes, root);
    }
    turn_.group().sync();
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = turn_.group().rank(); member < turn_.n(); member += turn_.group().size()) {
      if (member != turn_.me()) turn_.signal_done(member, step);
    }
  }
  GDRKIT_SHMEM_FUNCTION void scatter_parts(char* target, const char* source, std::size_t size_bytes,
                                           unsigned root) const {
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance < turn_.n(); ++distance) {
      const unsigned member = turn_.next(distance);
      const Slice part(size_bytes, part_of(member, root), turn_.n() - 1);
      copy<Reads::ordinary>(turn_.at(target + part.begin, member), source + part.begin, part.size_bytes, turn_.group());
    }
    if (target != source) copy<Reads::ordinary>(target, source, size_bytes, turn_.group());
  }
  GDRKIT_SHMEM_FUNCTION void scatter_words(Words16* target, const Words16* source, std::size_t size_bytes,
                                           unsigned root) const {
    constexpr unsigned unrolled = unrolled_for<Words16>();
    // Of Slice(size_bytes, part, parts), in words. A round has less than 2 GiB.
    const auto pieces = static_cast<unsigned>((size_bytes + 15) / 16), parts = turn_.n() - 1;
    const auto count = static_cast<unsigned>(size_bytes / 16), step = turn_.group().size();
    const bool is_copied = target != source;
    unsigned at = turn_.group().rank();
    GDRKIT_SHMEM_ROLLED
    for (; at < count; at += unrolled * step) {
      Words16 words[unrolled];
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) {
        if (at + i * step < count) words[i] = source[at + i * step];
      }
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) {
        const unsigned word = at + i * step;
        if (word >= count) continue;
        // The last part whose begin, pieces * part / parts, is not after the word.
        const unsigned part = ((word + 1) * parts - 1) / pieces;
        *turn_.at(target + word, part < root ? part : part + 1) = words[i];
        if (is_copied) target[word] = words[i];
      }
    }
    if (count * 16 == size_bytes || turn_.group().rank() != 0) return;
    auto* const to = reinterpret_cast<char*>(target + count);
    const auto* const from = reinterpret_cast<const char*>(source + count);
    const unsigned last = parts - 1 < root ? parts - 1 : parts;
    copy_rest<Reads::ordinary>(turn_.at(to, last), from, 0, size_bytes % 16);
    if (is_copied) copy_rest<Reads::ordinary>(to, from, 0, size_bytes % 16);
  }

  /// One word from each member, and the result to the first `copies` of them, this one first.
  template <unsigned unrolled, class Word, class Reduce>
  GDRKIT_SHMEM_FUNCTION void combine_words(Word* target, const Word* source, std::size_t at, unsigned copies,
                                           Reduce reduce) const {
    const std::size_t step = turn_.group().size();
    Word results[unrolled], words[unrolled];
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < unrolled; ++i) results[i] = read<Reads::fresh>(source + at + i * step);
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance < turn_.n(); ++distance) {
      const Word* const from = turn_.at(source + at, turn_.next(distance));
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) words[i] = read<Reads::fresh>(from + i * step);
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) results[i] = reduce(results[i], words[i]);
    }
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 0; distance < copies; ++distance) {
      Word* const to = turn_.at(target + at, turn_.next(distance));
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < unrolled; ++i) to[i * step] = results[i];
    }
  }

  /// 16 bytes at a time where both sides are aligned to them, else, and at the end, element by element.
  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION void combine(char* target, const char* source, std::size_t size_bytes, unsigned copies,
                                     Reduce reduce) const {
    constexpr unsigned unrolled = unrolled_for<Words16>();
    const auto both = reinterpret_cast<std::uintptr_t>(target) | reinterpret_cast<std::uintptr_t>(source);
    const std::size_t count = both % 16 == 0 ? size_bytes / 16 : 0, step = turn_.group().size();
    auto* const to = reinterpret_cast<Words16*>(target);
    const auto* const from = reinterpret_cast<const Words16*>(source);
    std::size_t at = turn_.group().rank();
    GDRKIT_SHMEM_ROLLED
    for (; at + (unrolled - 1) * step < count; at += unrolled * step) {
      combine_words<unrolled>(to, from, at, copies, reduce);
    }
    GDRKIT_SHMEM_ROLLED
    for (; at < count; at += step) combine_words<1>(to, from, at, copies, reduce);
    if (count * 16 == size_bytes) return;
    const std::size_t element_bytes = reduce.element_bytes();
    GDRKIT_SHMEM_ROLLED
    for (at = count * 16 + turn_.group().rank() * element_bytes; at < size_bytes; at += step * element_bytes) {
      combine_element(target + at, source + at, copies, reduce);
    }
  }

  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION void combine_element(char* target, const char* source, unsigned copies, Reduce reduce) const {
    const unsigned size_bytes = reduce.element_bytes();
    Words16 result = read_element(source, size_bytes);
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 1; distance < turn_.n(); ++distance) {
      result = reduce(result, read_element(turn_.at(source, turn_.next(distance)), size_bytes));
    }
    GDRKIT_SHMEM_ROLLED
    for (unsigned distance = 0; distance < copies; ++distance) {
      write_element(turn_.at(target, turn_.next(distance)), size_bytes, result);
    }
  }
  template <class T>
  GDRKIT_SHMEM_FUNCTION static Words16 widened(const char* element) {
    const T value = read<Reads::fresh>(reinterpret_cast<const T*>(element));
    Words16 words{};
    memcpy(&words, &value, sizeof value);
    return words;
  }
  GDRKIT_SHMEM_FUNCTION static Words16 read_element(const char* element, unsigned size_bytes) {
    switch (size_bytes) {
      case 1: return widened<std::uint8_t>(element);
      case 2: return widened<std::uint16_t>(element);
      case 4: return widened<std::uint32_t>(element);
      default: return widened<std::uint64_t>(element);
    }
  }
  template <class T>
  GDRKIT_SHMEM_FUNCTION static void narrow_to(char* element, const Words16& words) {
    memcpy(reinterpret_cast<T*>(element), &words, sizeof(T));
  }
  GDRKIT_SHMEM_FUNCTION static void write_element(char* element, unsigned size_bytes, const Words16& words) {
    switch (size_bytes) {
      case 1: return narrow_to<std::uint8_t>(element, words);
      case 2: return narrow_to<std::uint16_t>(element, words);
      case 4: return narrow_to<std::uint32_t>(element, words);
      default: return narrow_to<std::uint64_t>(element, words);
    }
  }

  const Turn<Group>& turn_;
};

}  // namespace gdrkit::shmem::detail

#endif
