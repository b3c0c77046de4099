// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamCollectives: the teams of one PE, and what their PEs do together. Little data goes over the CPUs, much over the
// GPUs; on a stream all goes over the GPUs.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "platform/device/device.hpp"
#include "shmem/collective/checked_call.hpp"
#include "shmem/collective/collective_call.hpp"
#include "shmem/collective/team_table.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/gpu_code.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

/// What collectives use of their PE; all must outlive them.
struct TeamParts {
  parts::Connections& connections;
  parts::Transfers& transfers;
  parts::GpuCode& gpu_code;
};

/// Thread-safe for different teams; for one team by one thread of each PE.
class TeamCollectives {
 public:
  /// Collective over all PEs. `compares_streams`: launches are compared between the PEs too. The device is current.
  [[nodiscard]] static base::Result<std::unique_ptr<TeamCollectives>> make(const TeamParts& parts,
                                                                           bool compares_streams) noexcept;

  [[nodiscard]] base::Result<int> my_pe(Team team) const noexcept;
  [[nodiscard]] base::Result<int> n_pes(Team team) const noexcept;
  [[nodiscard]] base::Result<int> translate(Team team, int pe, Team other) const noexcept;
  /// GDRKIT_SHMEM_TEAM_INVALID for a PE outside.
  [[nodiscard]] base::Result<Team> split_strided(Team parent, int start, int stride, int size) noexcept;
  [[nodiscard]] base::Result<Teams2d> split_2d(Team parent, int x_range) noexcept;
  base::Status destroy(Team team) noexcept;

  base::Status run(const CollectiveCall& call) noexcept;
  base::Status launch(const CollectiveCall& call, platform::Stream stream) noexcept;

  /// A GPU kernel's wait that was in vain, once.
  base::Status take_fault() noexcept;

 private:
  TeamCollectives(const TeamParts& parts, bool compares_streams) noexcept;
  struct Prepared {
    HostTeam* team;
    CheckedCall checked;
  };
  [[nodiscard]] base::Result<Prepared> prepare(const CollectiveCall& call) noexcept;
  /// All PEs have called this, with the same arguments, and said `message`.
  base::Status meet(const Prepared& prepared, bool is_on_stream, const Message& message) noexcept;
  base::Status run_on_gpu(const Prepared& prepared) noexcept;
  base::Status run_in_bulk(const Prepared& prepared) noexcept;
  base::Status launch_in(const Prepared& prepared, platform::Stream stream, std::uint64_t ticket) noexcept;
  base::Status wait_for(const Prepared& prepared, std::uint64_t ticket) noexcept;
  /// ETIMEDOUT: a GPU kernel of the team has waited in vain.
  [[nodiscard]] base::Status fault_of(const HostTeam& team) const noexcept;

  parts::Connections& connections_;
  parts::Transfers& transfers_;
  parts::GpuCode& gpu_code_;
  const bool compares_streams_;
  TeamTable table_;
};

}  // namespace gdrkit::shmem_impl::collective
