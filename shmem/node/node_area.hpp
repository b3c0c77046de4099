// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NodeArea: memory that the PEs of a node share, and a lock for each of them that ends with its process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "shmem/bootstrap/private_fd.hpp"

namespace gdrkit::shmem_impl::node {

/// A memory file, which the system frees with the last process that maps it. Byte i of it is locked by PE i's process,
/// by a lock of its own open file description (F_OFD_SETLK): the system drops it when the process ends in any way, a
/// thread of another PE in the same process keeps nothing alive, and a forked child closes its copy (PrivateFd).
class NodeArea {
 public:
  [[nodiscard]] static base::Result<base::UniqueFd> create(std::size_t n_pes, std::size_t size_bytes);
  /// Maps the file and locks `index`.
  [[nodiscard]] static base::Result<std::unique_ptr<NodeArea>> open(int file, std::size_t index, std::size_t n_pes,
                                                                    std::size_t size_bytes);
  NodeArea(const NodeArea&) = delete;
  NodeArea& operator=(const NodeArea&) = delete;
  ~NodeArea();

  [[nodiscard]] void* memory() const noexcept;
  [[nodiscard]] bool is_locked(std::size_t index) const noexcept;
  [[nodiscard]] bool has_left(std::size_t index) const noexcept;
  void set_left() noexcept;
  /// The first PE that was lost, by its number in the job, of this node or another; -1: none yet.
  [[nodiscard]] int first_lost() const noexcept;
  /// Returns the PE that was recorded first: another PE may have recorded a different one before.
  int note_lost(int pe) noexcept;

 private:
  NodeArea() noexcept = default;
  [[nodiscard]] std::atomic<std::int32_t>& lost() const noexcept;
  [[nodiscard]] std::atomic<unsigned char>& left(std::size_t index) const noexcept;

  bootstrap::PrivateFd lock_;
  std::size_t index_ = 0;
  void* start_ = nullptr;
  std::size_t head_bytes_ = 0;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace gdrkit::shmem_impl::node
