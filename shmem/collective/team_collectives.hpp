// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamCollectives: the teams of one PE and their collectives. CPUs move small data and GPUs move large data; on a
// stream, GPUs move all data.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/team_board.hpp"
#include "shmem/collective/team_table.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/gpu_code.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

/// The parts of a PE that collectives use. They must outlive TeamCollectives.
struct TeamParts {
  parts::Connections& connections;
  parts::Transfers& transfers;
  parts::GpuCode& gpu_code;
};

struct Teams2d {
  Team x = GDRKIT_SHMEM_TEAM_INVALID;
  Team y = GDRKIT_SHMEM_TEAM_INVALID;
};

/// Thread-safe for different teams. For one team, one thread of each PE calls the functions.
class TeamCollectives {
 public:
  /// Collective over all PEs. With `compares_streams`, the PEs also compare their launches. The caller must make the
  /// device current.
  [[nodiscard]] static base::Result<std::unique_ptr<TeamCollectives>> make(const TeamParts& parts,
                                                                           bool compares_streams) noexcept;

  [[nodiscard]] base::Result<int> my_pe(Team team) const noexcept;
  [[nodiscard]] base::Result<int> n_pes(Team team) const noexcept;
  [[nodiscard]] base::Result<int> translate(Team team, int pe, Team other) const noexcept;
  /// Returns GDRKIT_SHMEM_TEAM_INVALID on a PE that is not in the new team.
  [[nodiscard]] base::Result<Team> split_strided(Team parent, int start, int stride, int size) noexcept;
  [[nodiscard]] base::Result<Teams2d> split_2d(Team parent, int x_range) noexcept;
  /// Returns an id for the PEs of one team, which then call init_team.
  [[nodiscard]] base::Result<std::uint64_t> get_unique_id() noexcept { return board_.issue(); }
  /// Collective over the new team, which has `n_pes` PEs; this one is number `pe`.
  [[nodiscard]] base::Result<Team> init_team(std::uint64_t id, int n_pes, int pe) noexcept;
  base::Status destroy(Team team) noexcept;

  base::Status run(const CollectiveCall& call) noexcept;
  base::Status launch(const CollectiveCall& call, platform::Stream stream) noexcept;

  /// Fails with ETIMEDOUT if a wait of a GPU kernel timed out. Each is reported once.
  base::Status take_fault() noexcept;

 private:
  TeamCollectives(const TeamParts& parts, bool compares_streams) noexcept;
  struct Prepared {
    HostTeam* team;
    CheckedCall checked;
  };
  [[nodiscard]] base::Result<Prepared> prepare(const CollectiveCall& call) noexcept;
  /// Waits until all PEs have called this with the same arguments, and exchanges `message`.
  base::Status exchange(const Prepared& prepared, bool is_on_stream, const Message& message) noexcept;
  base::Status create_stream_once(HostTeam& team) noexcept;
  base::Status run_on_gpu(const Prepared& prepared) noexcept;
  base::Status launch_in(const Prepared& prepared, platform::Stream stream, std::uint64_t ticket) noexcept;
  base::Status wait_for(const Prepared& prepared, std::uint64_t ticket) noexcept;
  /// Fails with ETIMEDOUT if a wait of the team's GPU kernels timed out.
  [[nodiscard]] base::Status fault_of(const HostTeam& team) const noexcept;

  parts::Connections& connections_;
  parts::Transfers& transfers_;
  parts::GpuCode& gpu_code_;
  const bool compares_streams_;
  TeamTable table_;
  TeamBoard board_;
};

}  // namespace gdrkit::shmem_impl::collective
