// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives: the teams of one PE, and what their PEs do together. shmem/collective makes them.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"

namespace gdrkit::shmem_impl::core {

class Pe;
using Team = gdrkit_shmem_team_t;

enum class CollectiveOperation : std::uint8_t {
  sync,
  barrier,
  broadcast,
  fcollect,
  alltoall,
  reduce,
  reducescatter,
};

/// As the functions of gdrkit/shmem_collectives.h.
struct CollectiveCall {
  CollectiveOperation operation = CollectiveOperation::sync;
  Team team = GDRKIT_SHMEM_TEAM_WORLD;
  void* target = nullptr;
  const void* source = nullptr;
  std::uint64_t size_bytes = 0;  ///< of a part, where an operation has one for each PE
  int root = 0;
  gdrkit_shmem_type type = GDRKIT_SHMEM_TYPE_UINT8;  ///< of reductions
  gdrkit_shmem_reduction reduction = GDRKIT_SHMEM_SUM;
};

struct Teams2d {
  Team x = GDRKIT_SHMEM_TEAM_INVALID;
  Team y = GDRKIT_SHMEM_TEAM_INVALID;
};

/// Thread-safe for different teams; for one team by one thread of each PE.
class Collectives {
 public:
  virtual ~Collectives() = default;
  /// Collective over all PEs. `compares_streams`: launches are compared between the PEs too. `pe` must outlive it; the
  /// device is current.
  [[nodiscard]] static base::Result<std::unique_ptr<Collectives>> make(Pe& pe, bool compares_streams) noexcept;

  [[nodiscard]] virtual base::Result<int> my_pe(Team team) noexcept = 0;
  [[nodiscard]] virtual base::Result<int> n_pes(Team team) noexcept = 0;
  [[nodiscard]] virtual base::Result<int> translate(Team team, int pe, Team other) noexcept = 0;
  /// GDRKIT_SHMEM_TEAM_INVALID for a PE outside.
  [[nodiscard]] virtual base::Result<Team> split_strided(Team parent, int start, int stride, int size) noexcept = 0;
  [[nodiscard]] virtual base::Result<Teams2d> split_2d(Team parent, int x_range) noexcept = 0;
  virtual base::Status destroy(Team team) noexcept = 0;

  virtual base::Status run(const CollectiveCall& call) noexcept = 0;
  virtual base::Status launch(const CollectiveCall& call, platform::Stream stream) noexcept = 0;

  /// A GPU kernel's wait that was in vain, once.
  virtual base::Status take_fault() noexcept = 0;
  /// For gdrkit_shmem_device_state.
  [[nodiscard]] virtual std::uint64_t table_address() const noexcept = 0;
};

}  // namespace gdrkit::shmem_impl::core
