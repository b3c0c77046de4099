// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Synchronization: barriers over all PEs of a job, on one or several nodes, and comparison of their calls.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.hpp"
#include "shmem/parts/connections.hpp"

namespace gdrkit::shmem_impl::parts {

/// The functions are collective: one thread of each PE calls them.
class Synchronization {
 public:
  /// `connections` must outlive the object.
  explicit Synchronization(Connections& connections) noexcept
      : connections_(connections), own_index_(connections.node().index_of(connections.pe())) {}

  /// Waits for all PEs. `what` names the operation in error messages.
  base::Status sync_all(const char* what) noexcept;
  /// Fails with EPROTO if the PEs' operations or arguments differ. Returns after all PEs have compared them.
  base::Status agree(const char* what, std::uint64_t operation, std::uint64_t first, std::uint64_t second) noexcept;
  /// In a job over several nodes, waits until all PEs end. Otherwise a PE that closes its connections would be
  /// regarded as dead.
  void wait_for_farewell() noexcept;

 private:
  [[nodiscard]] base::Result<AgreedCalls> sync_nodes(const char* what, const AgreedCall& call,
                                                     std::chrono::milliseconds limit) noexcept;
  [[nodiscard]] PeLine& own_line() const noexcept { return connections_.line(own_index_); }

  Connections& connections_;
  const int own_index_;
};

}  // namespace gdrkit::shmem_impl::parts
