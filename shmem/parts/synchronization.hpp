// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Synchronization: how all PEs of a job wait for each other, on one machine or several, and compare what they called.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.hpp"
#include "shmem/parts/connections.hpp"

namespace gdrkit::shmem_impl::parts {

/// Collective functions: by one thread of each PE.
class Synchronization {
 public:
  /// `connections` must outlive it.
  explicit Synchronization(Connections& connections) noexcept
      : connections_(connections), own_index_(connections.node().index_of(connections.pe())) {}

  /// Waits for all PEs. `what` is for error messages.
  base::Status sync_all(const char* what) noexcept;
  /// EPROTO when the PEs' operations or arguments differ. Ends with all PEs having compared.
  base::Status agree(const char* what, std::uint64_t operation, std::uint64_t first, std::uint64_t second) noexcept;
  /// Of a job over several machines: waits until all PEs end, as one that closes its connections looks like a dead one.
  void say_farewell() noexcept;

 private:
  [[nodiscard]] base::Result<AgreedCalls> sync_machines(const char* what, const AgreedCall& call,
                                                        std::chrono::milliseconds limit) noexcept;
  [[nodiscard]] PeLine& own_line() const noexcept { return connections_.line(own_index_); }

  Connections& connections_;
  const int own_index_;
};

}  // namespace gdrkit::shmem_impl::parts
