// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamTable: the teams of one PE: their handles, creation and destruction, and their descriptions for GPU kernels.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "platform/gpu_code/collective_params.hpp"
#include "platform/gpu_code/gpu_kernels.hpp"
#include "shmem/collective/host_team.hpp"
#include "shmem/parts/team_memory.hpp"

namespace gdrkit::shmem_impl::collective {

/// A handle is the team's slot (5 bits), uneven_team (3 bits) if the heaps of its members are not evenly spaced, and
/// how many teams had the slot before (23 bits, from bit 8). A team takes a slot that is free on all PEs that create
/// it, so teams that share a PE never share a slot.
class TeamTable {
 public:
  explicit TeamTable(parts::Connections& connections) noexcept;
  TeamTable(const TeamTable&) = delete;
  TeamTable& operator=(const TeamTable&) = delete;
  ~TeamTable();

  /// Makes the predefined teams; the device must be current. All PEs must have returned from it before a PE uses a
  /// team.
  base::Status open() noexcept;

  /// EINVAL: no such team.
  [[nodiscard]] base::Result<HostTeam*> find(Team handle) const noexcept;
  [[nodiscard]] HostTeam* at(int slot) const noexcept {
    return teams_[static_cast<std::size_t>(slot)].load(std::memory_order_acquire);
  }

  /// Collective over `parent`. Makes a team of `range`; nullopt: the caller is not a member. Different teams of one
  /// call have different ranges. `what` and `arguments` describe the call, and are compared first; `is_valid`: whether
  /// the range is valid.
  [[nodiscard]] base::Result<Team> make(HostTeam& parent, const char* what, std::uint64_t operation,
                                        std::initializer_list<Argument> arguments, const base::Status& valid,
                                        std::optional<TeamRange> range) noexcept;
  /// Gives each PE's word to all PEs that call it, in a fixed order.
  using Gather = std::function<base::Result<std::vector<std::uint64_t>>(std::uint64_t word)>;
  /// Collective over the new team's `n_pes` PEs. `gather` exchanges words of these PEs, in the order of the team.
  [[nodiscard]] base::Result<Team> join(const char* what, int n_pes, const Gather& gather) noexcept;
  /// Collective over `team`.
  base::Status destroy(HostTeam& team) noexcept;
  /// Removes the team on this PE only, after other PEs failed to create it.
  void forget(Team handle) noexcept;

  [[nodiscard]] const shmem::TeamState& state(const HostTeam& team) const noexcept {
    return states_[static_cast<std::size_t>(team.slot())];
  }
  /// GPU kernels may write to it at any time, so the CPU accesses its words atomically (shmem::detail::load_acquire,
  /// post).
  [[nodiscard]] shmem::TeamReport& report(int entry) const noexcept {
    return reinterpret_cast<shmem::TeamReport*>(reports_.address())[entry & (2 * parts::team_slots - 1)];
  }
  /// Returns the fault of the team's GPU kernels or of its collectives on streams, or 0.
  [[nodiscard]] std::uint64_t fault(int slot) const noexcept {
    const std::uint64_t of_streams = shmem::detail::load_acquire(&report(slot).fault);
    return of_streams != 0 ? of_streams : shmem::detail::load_acquire(&report(uneven_entry(slot)).fault);
  }
  /// Holds off the end of every team.
  [[nodiscard]] std::unique_lock<std::mutex> keep_teams() noexcept { return std::unique_lock(removal_mutex_); }
  /// Returns the number of the entry, before entry 0, that GPU kernels use if the team is uneven.
  [[nodiscard]] static int uneven_entry(int slot) noexcept { return slot - parts::team_slots; }
  [[nodiscard]] std::uint64_t table_address() const noexcept { return start_ + parts::TeamMemory::table(); }

 private:
  static constexpr int fixed_teams = 3;

  /// Collective over `pes`, whose words `gather` exchanges. Makes a team of those at `positions`; if there are none,
  /// the caller is not a member.
  [[nodiscard]] base::Result<Team> create(const char* what, const Gather& gather, const std::vector<int>& pes,
                                          const std::vector<std::size_t>& positions);

  base::Status place(Team handle, std::vector<int> members, std::vector<std::uint64_t> first_arrivals) noexcept;
  [[nodiscard]] shmem::TeamState state_of(const HostTeam& team) const;
  /// Writes an entry of the table on the GPU. `size_bytes`: of its words and scratch memory.
  base::Status write_entry(int number, const shmem::TeamState& state, std::uint64_t size_bytes) noexcept;
  /// The heaps' distances are 0 if not all members are on this node.
  [[nodiscard]] std::vector<shmem::TeamMember> table_of(const std::vector<int>& members) const;
  [[nodiscard]] std::uint64_t used_slots() const noexcept;
  void remove(int slot) noexcept;

  parts::Connections& connections_;
  const parts::TeamMemory& memory_;
  const std::uint64_t start_;  // of the teams' part of this PE's heap
  platform::Allocation reports_;
  std::uint64_t reports_address_ = 0;  // as the GPU reaches them
  std::mutex mutex_;                   // of making and unmaking, which wait for other PEs
  std::mutex removal_mutex_;           // of teams_, against functions that iterate over it
  std::array<std::atomic<HostTeam*>, parts::team_slots> teams_{};
  std::array<shmem::TeamState, parts::team_slots> states_{};
  std::array<std::uint32_t, parts::team_slots> generations_{};
};

}  // namespace gdrkit::shmem_impl::collective
