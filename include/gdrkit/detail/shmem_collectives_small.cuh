// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of small data, through scratch memory. One store contains 4 bytes of data and the number of the turn, so
// a reader that observes the number has the data. One traversal of the link, without a fence or a reply. Included by
// shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_COLLECTIVES_SMALL_CUH
#define GDRKIT_SHMEM_COLLECTIVES_SMALL_CUH

#include <gdrkit/detail/shmem_cells.cuh>
#include <gdrkit/detail/shmem_turn.cuh>

namespace gdrkit::shmem::detail {

/// Cells for the values of a sender, in whole cache lines.
GDRKIT_SHMEM_ANYWHERE std::size_t small_cells(std::size_t size_bytes) { return (size_bytes + 63) / 64 * 8; }
/// Most bytes that one PE may send to each other in a small turn. `senders`: of the turn, 1 or all but the receiver.
GDRKIT_SHMEM_ANYWHERE std::size_t small_bytes(std::uint64_t scratch_bytes, unsigned senders) {
  return scratch_bytes / 2 / (senders == 0 ? 1 : senders) / 128 * 64;
}

/// Values of a share, if `size_bytes` are divided among `shares` PEs.
GDRKIT_SHMEM_ANYWHERE std::size_t share_values(std::size_t size_bytes, unsigned shares) {
  return ((size_bytes + 7) / 8 + shares - 1) / shares;
}
/// Whether the shares of a broadcast or a reduction of `size_bytes` fit into the scratch memory. A PE receives all
/// values of a broadcast; of a reduction, its own share and the result of each other share, from all others.
GDRKIT_SHMEM_ANYWHERE bool shares_fit(std::uint64_t scratch_bytes, std::size_t size_bytes, unsigned n,
                                      bool is_broadcast) {
  if (n < 3) return false;
  const std::size_t cells =
      is_broadcast ? (size_bytes + 7) / 8 : std::size_t{2} * (n - 1) * share_values(size_bytes, n);
  return 16 * cells <= scratch_bytes / 2;
}

template <class Group>
class SmallTurn {
 public:
  /// `size_bytes`: from each sender to each receiver.
  GDRKIT_SHMEM_FUNCTION SmallTurn(const Turn<Group>& turn, std::size_t size_bytes)
      : SmallTurn(turn, size_bytes, small_cells(size_bytes)) {}
  /// For a broadcast or a reduction of `size_bytes` in `shares` shares.
  GDRKIT_SHMEM_FUNCTION static SmallTurn in_shares(const Turn<Group>& turn, std::size_t size_bytes, unsigned shares) {
    return SmallTurn(turn, size_bytes, share_values(size_bytes, shares));
  }

  GDRKIT_SHMEM_FUNCTION bool broadcast(char* target, const char* source, unsigned root) {
    if (turn_.me() != root) return for_each_batch(ReceiveFromRoot{*this, target, root});
    return for_each_batch(SendFromRoot{*this, target, source});
  }

  /// `source_step`: bytes from one receiver's part of the source to the next one's; 0: all get the same.
  GDRKIT_SHMEM_FUNCTION bool exchange(char* target, const char* source, std::size_t source_step) {
    send_all(source, source_step);
    return for_each_batch(ReceiveFromAll{*this, target, source, source_step});
  }

  /// Reduces in the order of the members, so that all PEs get the same bits.
  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION bool reduce(char* target, const char* source, std::size_t source_step, Reduce reduce) {
    send_all(source, source_step);
    return for_each_batch(ReduceFromAll<Reduce>{*this, target, source, source_step, reduce});
  }

  /// The root sends a different share to each PE, and each PE passes its share on to the others. With n PEs, the
  /// root's link carries the data once, not n - 1 times, but the data traverses two links, one after the other.
  GDRKIT_SHMEM_FUNCTION bool broadcast_in_shares(char* target, const char* source, unsigned root) {
    if (turn_.me() == root) {
      return for_each_other_share(root, [&](const ShareBatch& batch) {
        const auto values = load_shares(source, batch);
        GDRKIT_SHMEM_UNROLLED
        for (unsigned i = 0; i < small_unrolled; ++i) {
          if (!batch.has[i]) continue;
          send<1>(batch.member[i], cells_ + batch.at[i], {{values.of[i]}});
          if (target != source) store_values<1>(target, batch.at[i], 1, size_bytes_, {{values.of[i]}});
        }
        return true;
      });
    }
    const bool is_passed_on = for_each_own_value(place(turn_.me(), root), [&](std::size_t, std::size_t at) {
      Values<1> value;
      if (!receive(root, cells_ + at, &value)) return false;
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < turn_.n(); ++distance) {
        const unsigned member = turn_.next(distance);
        if (member != root) send(member, cells_ + at, value);
      }
      store_values(target, at, 1, size_bytes_, value);
      return true;
    });
    return is_passed_on && for_each_other_share(root, [&](const ShareBatch& batch) {
             return receive_shares(target, batch, [&](unsigned i) { return cells_ + batch.at[i]; });
           });
  }

  /// Each PE reduces one share and sends the result to all. With n PEs, each link carries 2 * (n - 1) / n times the
  /// data, not n - 1 times, but the data traverses two links, one after the other.
  template <class Reduce>
  GDRKIT_SHMEM_FUNCTION bool reduce_in_shares(char* target, const char* source, Reduce reduce) {
    const unsigned me = turn_.me();
    (void)for_each_other_share(nobody, [&](const ShareBatch& batch) {
      const auto values = load_shares(source, batch);
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < small_unrolled; ++i) {
        if (batch.has[i]) send<1>(batch.member[i], cell(me, batch.member[i]) + batch.index, {{values.of[i]}});
      }
      return true;
    });
    const std::size_t results = (turn_.n() - 1) * sender_cells_;  // the cells after those of the sources
    const bool is_reduced = for_each_own_value(me, [&](std::size_t index, std::size_t at) {
      Values<1> result = load_values<1>(source, at, 1, size_bytes_);
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < turn_.n(); distance += small_unrolled) {
        ShareBatch batch = batch_of(distance, 0, nobody);
        Values<small_unrolled> values{};
        GDRKIT_SHMEM_UNROLLED
        for (unsigned i = 0; i < small_unrolled; ++i) batch.has[i] = distance + i < turn_.n();
        if (!receive_batch(
                batch, [&](unsigned i) { return cell(batch.member[i], me) + index; }, &values))
          return false;
        GDRKIT_SHMEM_UNROLLED
        for (unsigned i = 0; i < small_unrolled; ++i) {
          if (batch.has[i]) combine_values<1>(reduce, &result, {{values.of[i]}});
        }
      }
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < turn_.n(); ++distance) {
        const unsigned member = turn_.next(distance);
        send(member, cell(me, member) + results + index, result);
      }
      store_values(target, at, 1, size_bytes_, result);
      return true;
    });
    return is_reduced && for_each_other_share(nobody, [&](const ShareBatch& batch) {
             return receive_shares(target, batch,
                                   [&](unsigned i) { return cell(batch.member[i], me) + results + batch.index; });
           });
  }

 private:
  GDRKIT_SHMEM_FUNCTION SmallTurn(const Turn<Group>& turn, std::size_t size_bytes, std::size_t sender_cells)
      : turn_(turn),
        size_bytes_(size_bytes),
        number_(static_cast<std::uint32_t>(turn.number())),
        cells_(reinterpret_cast<Words16*>(turn.team().scratch_address +
                                          turn.number() % 2 * (turn.team().scratch_bytes / 2))),
        sender_cells_(sender_cells) {}

  // Functions for for_each_batch. NVRTC rejects lambdas with parameters of type auto.
  struct ReceiveFromRoot {
    const SmallTurn& own;
    char* target;
    unsigned root;
    template <unsigned count>
    GDRKIT_SHMEM_FUNCTION bool run(std::size_t index) const {
      Values<count> values;
      if (!own.receive(root, own.cells_ + index, &values)) return false;
      store_values(target, index, own.step(), own.size_bytes_, values);
      return true;
    }
  };
  struct SendFromRoot {
    const SmallTurn& own;
    char* target;
    const char* source;
    template <unsigned count>
    GDRKIT_SHMEM_FUNCTION bool run(std::size_t index) const {
      const auto values = load_values<count>(source, index, own.step(), own.size_bytes_);
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < own.turn_.n(); ++distance) {
        own.send(own.turn_.next(distance), own.cells_ + index, values);
      }
      if (target != source) store_values(target, index, own.step(), own.size_bytes_, values);
      return true;
    }
  };
  struct SendToAll {
    const SmallTurn& own;
    const char* source;
    std::size_t source_step;
    template <unsigned count>
    GDRKIT_SHMEM_FUNCTION bool run(std::size_t index) const {
      unsigned member = own.turn_.next(1);
      auto values = load_values<count>(source + member * source_step, index, own.step(), own.size_bytes_);
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < own.turn_.n(); ++distance) {
        const unsigned next = own.turn_.next(distance + 1);  // after the last one: this PE
        auto next_values = values;
        if (source_step != 0) {
          next_values = load_values<count>(source + next * source_step, index, own.step(), own.size_bytes_);
        }
        own.send(member, own.cell(own.turn_.me(), member) + index, values);
        member = next;
        values = next_values;
      }
      return true;
    }
  };
  struct ReceiveFromAll {
    const SmallTurn& own;
    char* target;
    const char* source;
    std::size_t source_step;
    template <unsigned count>
    GDRKIT_SHMEM_FUNCTION bool run(std::size_t index) const {
      const std::size_t me = own.turn_.me();
      store_values(target + me * own.size_bytes_, index, own.step(), own.size_bytes_,
                   load_values<count>(source + me * source_step, index, own.step(), own.size_bytes_));
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < own.turn_.n(); ++distance) {
        const unsigned member = own.turn_.next(distance);
        Values<count> values;
        if (!own.receive(member, own.cell(member, own.turn_.me()) + index, &values)) return false;
        store_values(target + member * own.size_bytes_, index, own.step(), own.size_bytes_, values);
      }
      return true;
    }
  };
  template <class Reduce>
  struct ReduceFromAll {
    const SmallTurn& own;
    char* target;
    const char* source;
    std::size_t source_step;
    Reduce reduce;
    template <unsigned count>
    GDRKIT_SHMEM_FUNCTION bool run(std::size_t index) const {
      Values<count> result{};
      GDRKIT_SHMEM_ROLLED
      for (unsigned member = 0; member < own.turn_.n(); ++member) {
        Values<count> values;
        if (member == own.turn_.me()) {
          values = load_values<count>(source + member * source_step, index, own.step(), own.size_bytes_);
        } else if (!own.receive(member, own.cell(member, own.turn_.me()) + index, &values)) {
          return false;
        }
        if (member == 0) {
          result = values;
        } else {
          combine_values(reduce, &result, values);
        }
      }
      store_values(target, index, own.step(), own.size_bytes_, result);
      return true;
    }
  };

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::size_t value_count() const { return (size_bytes_ + 7) / 8; }
  /// Distance of the values that one thread handles.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::size_t step() const {
    return std::size_t{turn_.lane().count} * turn_.group().size();
  }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::size_t first_index() const {
    return std::size_t{turn_.lane().number} * turn_.group().size() + turn_.group().rank();
  }

  /// Calls `function.run<number of values>(index of the first)` for this thread's values. Ends with false if a call
  /// returns false.
  template <class Function>
  GDRKIT_SHMEM_FUNCTION bool for_each_batch(Function function) const {
    const std::size_t count = value_count();
    std::size_t index = first_index();
    GDRKIT_SHMEM_ROLLED
    for (; index + (small_unrolled - 1) * step() < count; index += small_unrolled * step()) {
      if (!function.template run<small_unrolled>(index)) return false;
    }
    GDRKIT_SHMEM_ROLLED
    for (; index < count; index += step()) {
      if (!function.template run<1>(index)) return false;
    }
    return true;
  }

  /// Loads the values of the next member before it stores those of this one, so that the loads overlap.
  GDRKIT_SHMEM_FUNCTION void send_all(const char* source, std::size_t source_step) const {
    if (turn_.n() == 1) return;
    (void)for_each_batch(SendToAll{*this, source, source_step});
  }

  /// Of what `sender` sends, in the scratch memory of `receiver`, which has no place for itself.
  GDRKIT_SHMEM_FUNCTION static unsigned place(unsigned sender, unsigned receiver) {
    return sender < receiver ? sender : sender - 1;
  }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION Words16* cell(unsigned sender, unsigned receiver) const {
    return cells_ + place(sender, receiver) * sender_cells_;
  }
  /// `cell`: the first, in this PE's heap.
  template <unsigned count>
  GDRKIT_SHMEM_FUNCTION void send(unsigned member, Words16* cell, const Values<count>& values) const {
    Words16* const there = turn_.at(cell, member);
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < count; ++i) store_cell(there + i * step(), values.of[i], number_);
  }
  /// Returns false if the wait failed.
  template <unsigned count>
  GDRKIT_SHMEM_FUNCTION bool receive(unsigned member, const Words16* cell, Values<count>* values) const {
    return turn_.wait(member, [&] { return load_cells(cell, step(), number_, values); });
  }

  // Shares: the values are divided among the PEs, or among all but the root of a broadcast, in the order of the
  // members. All but the last have sender_cells_ values; the last ones may have fewer or none.

  static constexpr unsigned nobody = ~0U;

  /// Value `index` of the shares of the members at some distances.
  struct ShareBatch {
    std::size_t index;
    unsigned member[small_unrolled];
    std::size_t at[small_unrolled];  ///< index in the data
    bool has[small_unrolled];        ///< whether the share has that value
  };

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION ShareBatch batch_of(unsigned distance, std::size_t index, unsigned root) const {
    ShareBatch batch;
    batch.index = index;
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < small_unrolled; ++i) {
      const bool is_other = distance + i < turn_.n();
      const unsigned member = is_other ? turn_.next(distance + i) : turn_.me();
      batch.member[i] = member;
      batch.at[i] = place(member, root) * sender_cells_ + index;
      batch.has[i] = is_other && member != root && batch.at[i] < value_count();
    }
    return batch;
  }
  /// Calls `function` with batches of all shares but this PE's, for this thread's values.
  template <class Function>
  GDRKIT_SHMEM_FUNCTION bool for_each_other_share(unsigned root, Function function) const {
    GDRKIT_SHMEM_ROLLED
    for (std::size_t index = first_index(); index < sender_cells_; index += step()) {
      GDRKIT_SHMEM_ROLLED
      for (unsigned distance = 1; distance < turn_.n(); distance += small_unrolled) {
        if (!function(batch_of(distance, index, root))) return false;
      }
    }
    return true;
  }
  /// Calls `function` with the indices in share `share` and in the data, for this thread's values.
  template <class Function>
  GDRKIT_SHMEM_FUNCTION bool for_each_own_value(unsigned share, Function function) const {
    const std::size_t begin = share * sender_cells_;
    GDRKIT_SHMEM_ROLLED
    for (std::size_t index = first_index(); index < sender_cells_ && begin + index < value_count(); index += step()) {
      if (!function(index, begin + index)) return false;
    }
    return true;
  }
  GDRKIT_SHMEM_FUNCTION Values<small_unrolled> load_shares(const char* source, const ShareBatch& batch) const {
    Values<small_unrolled> values{};
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < small_unrolled; ++i) {
      if (batch.has[i]) values.of[i] = load_values<1>(source, batch.at[i], 1, size_bytes_).of[0];
    }
    return values;
  }
  /// `cell_of`: returns the cell of value i of the batch.
  template <class CellOf>
  GDRKIT_SHMEM_FUNCTION bool receive_batch(const ShareBatch& batch, CellOf cell_of,
                                           Values<small_unrolled>* values) const {
    return turn_.wait(batch.member[0], [&] {
      Values<1> seen[small_unrolled];
      bool are_there = true;
      GDRKIT_SHMEM_UNROLLED
      for (unsigned i = 0; i < small_unrolled; ++i) {
        const bool is_there = load_cells<1>(batch.has[i] ? cell_of(i) : cells_, 1, number_, &seen[i]);
        are_there = are_there && (is_there || !batch.has[i]);
        values->of[i] = seen[i].of[0];
      }
      return are_there;
    });
  }
  template <class CellOf>
  GDRKIT_SHMEM_FUNCTION bool receive_shares(char* target, const ShareBatch& batch, CellOf cell_of) const {
    Values<small_unrolled> values{};
    if (!receive_batch(batch, cell_of, &values)) return false;
    GDRKIT_SHMEM_UNROLLED
    for (unsigned i = 0; i < small_unrolled; ++i) {
      if (batch.has[i]) store_values<1>(target, batch.at[i], 1, size_bytes_, {{values.of[i]}});
    }
    return true;
  }

  const Turn<Group>& turn_;
  const std::size_t size_bytes_;
  const std::uint32_t number_;
  Words16* const cells_;
  const std::size_t sender_cells_;
};

}  // namespace gdrkit::shmem::detail

#endif
