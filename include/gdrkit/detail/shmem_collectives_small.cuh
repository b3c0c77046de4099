// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of small data, through scratch memory. One store contains 4 bytes of data and the number of the turn, so
// a reader that observes the number has the data. One traversal of the link, without a fence or a reply. Included by
// shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_COLLECTIVES_SMALL_CUH
#define GDRKIT_SHMEM_COLLECTIVES_SMALL_CUH

#include <gdrkit/detail/shmem_reductions.cuh>
#include <gdrkit/detail/shmem_team.cuh>

namespace gdrkit::shmem::detail {

// A cell of scratch memory: 16 bytes with 8 bytes of data, each half followed by the turn. Hardware does not split
// aligned accesses of 8 bytes. The low 32 bits of a turn repeat after 4 billion turns.

#if defined(__CUDACC__)
GDRKIT_SHMEM_FUNCTION void store_cell(Words16* cell, std::uint64_t data, std::uint32_t turn) {
  asm volatile("st.volatile.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(cell), "r"(static_cast<std::uint32_t>(data)),
               "r"(turn), "r"(static_cast<std::uint32_t>(data >> 32))
               : "memory");
}
/// Returns false if the data has not arrived yet.
GDRKIT_SHMEM_FUNCTION bool load_cell(const Words16* cell, std::uint32_t turn, std::uint64_t* data) {
  const Words16 seen = read<Reads::fresh>(cell);
  *data = std::uint64_t{seen.words[2]} << 32 | seen.words[0];
  return seen.words[1] == turn && seen.words[3] == turn;
}
#else
inline void store_cell(Words16* cell, std::uint64_t data, std::uint32_t turn) {
  auto* const halves = reinterpret_cast<std::uint64_t*>(cell);
  store_relaxed(halves, std::uint64_t{turn} << 32 | (data & 0xffffffffU));
  store_relaxed(halves + 1, std::uint64_t{turn} << 32 | data >> 32);
}
inline bool load_cell(const Words16* cell, std::uint32_t turn, std::uint64_t* data) {
  const auto* const halves = reinterpret_cast<const std::uint64_t*>(cell);
  const std::uint64_t low = load_relaxed(halves), high = load_relaxed(halves + 1);
  *data = high << 32 | (low & 0xffffffffU);
  return low >> 32 == turn && high >> 32 == turn;
}
#endif

/// Value `index` of `size_bytes` of memory: 8 bytes, fewer at the end.
GDRKIT_SHMEM_FUNCTION std::uint64_t load_value(const char* memory, std::size_t index, std::size_t size_bytes) {
  const char* const at = memory + 8 * index;
  const std::size_t left = size_bytes - 8 * index;
  if (left >= 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) return *reinterpret_cast<const std::uint64_t*>(at);
  std::uint64_t value = 0;
  GDRKIT_SHMEM_ROLLED
  for (unsigned byte = 0; byte < 8 && byte < left; ++byte) {
    value |= std::uint64_t{static_cast<unsigned char>(at[byte])} << (8 * byte);
  }
  return value;
}
GDRKIT_SHMEM_FUNCTION void store_value(char* memory, std::size_t index, std::size_t size_bytes, std::uint64_t value) {
  char* const at = memory + 8 * index;
  const std::size_t left = size_bytes - 8 * index;
  if (left >= 8 && reinterpret_cast<std::uintptr_t>(at) % 8 == 0) {
    *reinterpret_cast<std::uint64_t*>(at) = value;
    return;
  }
  GDRKIT_SHMEM_ROLLED
  for (unsigned byte = 0; byte < 8 && byte < left; ++byte) at[byte] = static_cast<char>(value >> (8 * byte));
}

template <class Reduce>
GDRKIT_SHMEM_FUNCTION std::uint64_t combine_values(Reduce reduce, std::uint64_t left, std::uint64_t right) {
  const Words16 lefts = {{static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(left >> 32), 0, 0}};
  const Words16 rights = {{static_cast<std::uint32_t>(right), static_cast<std::uint32_t>(right >> 32), 0, 0}};
  const Words16 combined = reduce(lefts, rights);
  return std::uint64_t{combined.words[1]} << 32 | combined.words[0];
}

/// Most bytes that one PE may send to each other in a small turn. `senders`: of the turn, 1 or all but the receiver.
GDRKIT_SHMEM_ANYWHERE std::size_t small_bytes(std::uint64_t scratch_bytes, unsigned senders) {
  return scratch_bytes / 2 / (senders == 0 ? 1 : senders) / 16 * 8;
}

template <class Group>
class SmallTurn {
 public:
  /// `size_bytes`: from each sender to each receiver.
  GDRKIT_SHMEM_FUNCTION SmallTurn(const Turn<Group>& turn, std::size_t size_bytes, unsigned senders)
      : turn_(turn), size_bytes_(size_bytes), number_(static_cast<std::uint32_t>(turn.number())) {
    const TeamState& team = turn.team();
    cells_ = reinterpret_cast<Words16*>(team.scratch_address + turn.number() % 2 * (team.scratch_bytes / 2));
    sender_cells_ = small_bytes(team.scratch_bytes, senders) / 8;
  }

  GDRKIT_SHMEM_FUNCTION bool broadcast(char* target, const char* source, unsigned root) {
    if (turn_.me() != root) {
      return for_each_value([&](std::size_t index) {
        std::uint64_t value = 0;
        if (!receive(root, 0, index, &value)) return false;
        store_value(target, index, size_bytes_, value);
        return true;
      });
    }
    return for_each_value([&](std::size_t index) {
      const std::uint64_t value = load_value(source, index, size_bytes_);
      GDRKIT_SHMEM_ROLLED
      for (unsigned step = 1; step < turn_.n(); ++step) send(turn_.next(step), 0, index, value);
      if (target != source) store_value(target, index, size_bytes_, value);
      return true;
    });
  }

  /// `source_step`: bytes from one receiver's part of the source to the next one's; 0: all get the same.
  GDRKIT_SHMEM_FUNCTION bool exchange(char* target, const char* source, std::size_t source_step) {
    send_all(source, source_step);
    return for_each_value([&](std::size_t index) {
      const std::size_t own = turn_.me();
      store_value(target + own * size_bytes_, index, size_bytes_,
                  load_value(source + own * source_step, index, size_bytes_));
      GDRKIT_SHMEM_ROLLED
      for (unsigned step = 1; step < turn_.n(); ++step) {
        const unsigned member = turn_.next(step);
        std::uint64_t value = 0;
        if (!receive(member, place(member, turn_.me()), index, &value)) return false;
        store_value(target + member * size_bytes_, index, size_bytes_, value);
      }
      return true;
    });
  }

  /// Reduces in the order of the members, so that all PEs get the same bits.
  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION bool reduce(char* target, const char* source, std::size_t source_step, Reduce reduce) {
    send_all(source, source_step);
    return for_each_value([&](std::size_t index) {
      std::uint64_t result = 0;
      GDRKIT_SHMEM_ROLLED
      for (unsigned member = 0; member < turn_.n(); ++member) {
        std::uint64_t value = 0;
        if (member == turn_.me()) {
          value = load_value(source + member * source_step, index, size_bytes_);
        } else if (!receive(member, place(member, turn_.me()), index, &value)) {
          return false;
        }
        result = member == 0 ? value : combine_values(reduce, result, value);
      }
      store_value(target, index, size_bytes_, result);
      return true;
    });
  }

 private:
  /// The lane's values, by the group's threads; false where a call was.
  template <class Function>
  GDRKIT_SHMEM_FUNCTION bool for_each_value(Function function) const {
    const std::size_t step = std::size_t{turn_.lane().count} * turn_.group().size();
    std::size_t index = std::size_t{turn_.lane().number} * turn_.group().size() + turn_.group().rank();
    GDRKIT_SHMEM_ROLLED
    for (; 8 * index < size_bytes_; index += step) {
      if (!function(index)) return false;
    }
    return true;
  }

  GDRKIT_SHMEM_FUNCTION void send_all(const char* source, std::size_t source_step) const {
    (void)for_each_value([&](std::size_t index) {
      GDRKIT_SHMEM_ROLLED
      for (unsigned step = 1; step < turn_.n(); ++step) {
        const unsigned member = turn_.next(step);
        send(member, place(turn_.me(), member), index, load_value(source + member * source_step, index, size_bytes_));
      }
      return true;
    });
  }
  /// Of what `sender` sends, in the scratch memory of `receiver`, which has no place for itself.
  GDRKIT_SHMEM_FUNCTION static unsigned place(unsigned sender, unsigned receiver) {
    return sender < receiver ? sender : sender - 1;
  }
  GDRKIT_SHMEM_FUNCTION void send(unsigned member, unsigned place, std::size_t index, std::uint64_t value) const {
    store_cell(turn_.at(cells_ + place * sender_cells_ + index, member), value, number_);
  }
  /// false: the wait was in vain.
  GDRKIT_SHMEM_FUNCTION bool receive(unsigned member, unsigned place, std::size_t index, std::uint64_t* value) const {
    const Words16* const cell = cells_ + place * sender_cells_ + index;
    return turn_.wait(member, [&] { return load_cell(cell, number_, value); });
  }

  const Turn<Group>& turn_;
  const std::size_t size_bytes_;
  const std::uint32_t number_;
  Words16* cells_;
  std::size_t sender_cells_;
};

}  // namespace gdrkit::shmem::detail

#endif
