// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Turn: synchronization of the PEs of a team in one collective. Included by shmem_collectives.cuh.
#ifndef GDRKIT_SHMEM_TURN_CUH
#define GDRKIT_SHMEM_TURN_CUH

#include <gdrkit/detail/shmem_team.cuh>

namespace gdrkit::shmem::detail {

#if defined(__CUDACC__)
/// Returns how many lanes arrived before. Acquires their earlier accesses.
GDRKIT_SHMEM_FUNCTION std::uint32_t arrive(std::uint32_t* count) {
  std::uint32_t before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(count))
               : "memory");
  return before;
}
#else
inline std::uint32_t arrive(std::uint32_t* count) { return __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL); }
#endif

/// Checks the limit between polls. Returns the time at which the wait began, or 0 if the wait has ended. It takes as
/// long as some polls. Out of line, because there are many waits.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::uint64_t continue_wait(TeamProgress* progress, TeamReport* report,
                                                                        const Control* control, unsigned member,
                                                                        std::uint64_t limit_ns,
                                                                        std::uint64_t begin_ns) {
  relax();
  const std::uint64_t now = clock_ns();
  if (begin_ns == 0) begin_ns = now;
  const bool is_stopped =
      (control != nullptr && load_relaxed(&control->is_broken) != 0) || load_relaxed(&report->stop) != 0;
  if (is_stopped || now - begin_ns > limit_ns) {
    post(&report->fault, 1 + 2 * std::uint64_t{member});
    post(&progress->is_broken, 1);
    return 0;
  }
  return load_relaxed(&progress->is_broken) != 0 ? 0 : begin_ns;
}

/// Part of a collective that a group performs. Lanes share the data, and lane i of a PE synchronizes with lane i of the
/// others only. So the blocks of a grid need not wait for each other.
struct Lane {
  unsigned number = 0;
  unsigned count = 1;
};

/// Where part `number` of `count` begins in `pieces`. Out of line: a GPU divides 64 bits by a hundred instructions.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::size_t part_begin(std::size_t pieces, std::size_t number,
                                                                   std::size_t count) {
  return pieces * number / count;
}

/// Part `number` of `count` parts of `all_bytes`, in units of 16 bytes.
struct Slice {
  std::size_t begin = 0;
  std::size_t size_bytes;

  GDRKIT_SHMEM_FUNCTION Slice(std::size_t all_bytes, std::size_t number, std::size_t count) : size_bytes(all_bytes) {
    if (count == 1) return;
    const std::size_t pieces = (all_bytes + 15) / 16;
    const std::size_t end = part_begin(pieces, number + 1, count) * 16;
    begin = part_begin(pieces, number, count) * 16;
    size_bytes = (end < all_bytes ? end : all_bytes) - (begin < all_bytes ? begin : all_bytes);
  }
};

/// Meaning of begin for the other PEs, with respect to the group's threads and earlier GPU kernels.
enum class Begin {
  now,           ///< nothing
  after_reads,   ///< the target of this PE may be written
  after_writes,  ///< the source of this PE may be read: earlier writes are visible
};

/// One collective of a team, performed by one lane of one PE. Turns of a team are numbered equally on all PEs, because
/// all perform the same collectives. Each PE signals to the others that it has begun a turn (begun), and each lane that
/// its data has arrived (done). The words only increase, so they are never reset.
/// - The last lane to complete a turn increments the turn number. GPU kernels of a PE run one after the other in a
///   stream. So all lanes of a turn read the same number, and a PE that has begun turn k has completed turn k - 1 in
///   all its lanes.
/// - So the scratch memory of turn k - 2 is free when all PEs have begun turn k - 1: two halves that alternate need no
///   reply.
/// - A PE whose target is written or whose source is read must have begun this turn.
template <class Group>
class Turn {
 public:
  /// The step of `done` that ends a turn.
  static constexpr std::uint64_t last_step = 0xffff;

  /// `team`: the entry of the table, or a copy in the parameters of a GPU kernel.
  GDRKIT_SHMEM_FUNCTION Turn(const State& state, Team handle, const TeamState& team, Group group, Lane lane = {})
      : team_(team),
        progress_(in_global_memory(&team_entry(state, handle).progress)),
        members_(team),
        words_address_(team.words_address),
        limit_ns_(state.limit_ns),
        control_(reinterpret_cast<const Control*>(state.control_address)),
        lane_(lane),
        group_(group) {
    number_ = load_relaxed(&progress_->turns) + 1;
    is_broken_ = load_relaxed(&progress_->is_broken) != 0;
    // Loaded together with the others, so that the wait for scratch memory needs no additional load.
    begun_seen_ = group.rank() < n() ? load_relaxed(begun() + group.rank()) : 0;
  }

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION const Members<Group>& members() const { return members_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned n() const { return members_.n; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned me() const { return members_.me; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION unsigned next(unsigned distance) const { return members_.next(distance); }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::uint64_t number() const { return number_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION Lane lane() const { return lane_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION Group group() const { return group_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION const TeamState& team() const { return team_; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION Slice slice(std::size_t size_bytes) const {
    return Slice(size_bytes, lane_.number, lane_.count);
  }

  template <class T>
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION T* at(T* own, unsigned member) const {
    return members_.at(own, member);
  }

  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool is_usable() const { return group_.all(!is_broken_); }
  /// By member, the last turn that it has begun; in this PE's heap.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::uint64_t* begun() const {
    return reinterpret_cast<std::uint64_t*>(words_address_);
  }

  /// Signals to all PEs that this PE has begun the turn.
  GDRKIT_SHMEM_FUNCTION void begin(Begin meaning) const {
    if (lane_.number != 0) return;
    if (meaning != Begin::now) group_.sync();
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group_.rank(); member < n(); member += group_.size()) {
      if (member == me()) continue;
      if (meaning == Begin::after_writes) fence_release();
      post(at(begun(), member) + me(), number_);
    }
  }
  /// Waits until all PEs have begun this turn. All threads of the group get the same result.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait_for_begun() const {
    bool is_there = !is_broken_;
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group_.rank(); is_there && member < n(); member += group_.size()) {
      if (member != me()) is_there = wait_for_number(member, begun() + member, number_);
    }
    return group_.all(is_there);
  }
  /// Waits until the scratch memory of all PEs may be written. All threads of the group get the same result.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait_for_scratch() const {
    bool is_there = !is_broken_;
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group_.rank(); is_there && member < n(); member += group_.size()) {
      if (member == me() || (member == group_.rank() && begun_seen_ + 1 >= number_)) continue;
      const std::uint64_t* const word = begun() + member;
      const std::uint64_t number = number_;
      is_there = wait(member, [word, number] { return load_relaxed(word) + 1 >= number; });
    }
    return group_.all(is_there);
  }

  /// Signals to `member` that this lane has completed `step`. Called by one thread after a barrier of the group.
  GDRKIT_SHMEM_FUNCTION void signal_done(unsigned member, std::uint64_t step) const {
    fence_release();
    post(at(done(), member) + me(), mark(step));
  }
  /// Signals to all PEs that the group has written all its data of this turn.
  GDRKIT_SHMEM_FUNCTION void signal_all_done() const {
    group_.sync();
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group_.rank(); member < n(); member += group_.size()) {
      if (member != me()) signal_done(member, last_step);
    }
  }
  /// Waits until `member` has completed `step`. Called by one thread.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait_for(unsigned member, std::uint64_t step) const {
    return wait_for_number(member, done() + member, mark(step));
  }
  /// Waits until all PEs have completed the turn. All threads of the group get the same result.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait_for_all() const {
    bool is_there = true;
    GDRKIT_SHMEM_ROLLED
    for (unsigned member = group_.rank(); is_there && member < n(); member += group_.size()) {
      if (member != me()) is_there = wait_for(member, last_step);
    }
    return group_.all(is_there);
  }

  /// Completes the turn and returns `is_whole`, which must be equal in all threads of the group. The last lane stores
  /// `ticket`, unless it is 0, for the CPU: all data of the turn is in place then.
  GDRKIT_SHMEM_FUNCTION bool end(bool is_whole, std::uint64_t ticket = 0) const {
    if (!is_whole) return false;
    group_.sync();
    if (group_.rank() == 0 && (lane_.count == 1 || arrive(&progress_->ended_lanes) + 1 == lane_.count)) {
      progress_->ended_lanes = 0;
      progress_->turns = number_;
      if (ticket != 0) {
        fence_release();
        post(&report()->finished, ticket);
      }
    }
    group_.sync();
    return true;
  }

  /// Returns false if the wait exceeded the limit or another wait of the team failed; the team is unusable then.
  template <class Condition>
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait(unsigned member, Condition is_there) const {
    std::uint64_t begin_ns = 0;
    do {
      GDRKIT_SHMEM_ROLLED
      for (unsigned poll = 0; poll < polls_per_clock; ++poll) {
        if (is_there()) return true;
      }
      begin_ns = continue_wait(progress_, report(), control_, member, limit_ns_, begin_ns);
    } while (begin_ns != 0);
    return false;
  }

 private:
  /// Arguments by value: otherwise each poll would also load the team from memory, bypassing the caches that an acquire
  /// load has invalidated.
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION bool wait_for_number(unsigned member, const std::uint64_t* word,
                                                           std::uint64_t least) const {
    if (!wait(member, [word, least] { return load_polled(word) >= least; })) return false;
    end_polls();
    return true;
  }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::uint64_t mark(std::uint64_t step) const { return number_ << 16 | step; }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION TeamReport* report() const {
    return reinterpret_cast<TeamReport*>(team_.report_address);
  }
  [[nodiscard]] GDRKIT_SHMEM_FUNCTION std::uint64_t* done() const {
    const std::uint64_t row = team_row_bytes(n());
    return reinterpret_cast<std::uint64_t*>(words_address_ + row * (1 + lane_.number));
  }

  // Copied to registers: after an acquire, a load from team_ would miss the first-level cache.
  const TeamState& team_;
  TeamProgress* const progress_;
  const Members<Group> members_;
  const std::uint64_t words_address_;
  const std::uint64_t limit_ns_;
  const Control* const control_;
  const Lane lane_;
  const Group group_;
  std::uint64_t number_;
  std::uint64_t begun_seen_;
  bool is_broken_;
};

}  // namespace gdrkit::shmem::detail

#endif
