// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceState: what GPU code compiled with one version of NVSHMEM's device library reads. Its tables are in the
// symmetric heap (docs/design/0030-nvshmem-gpu-code.md).
#pragma once

#include <gdrkit/shmem.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "shmem/nvshmem/state_layout.hpp"

namespace gdrkit::shmem_impl::nvshmem {

/// Functions return 0, or the error of a function of gdrkit/shmem.h, which has set gdrkit_shmem_last_error(). Not
/// thread-safe. The end of the PE frees the tables.
class DeviceState {
 public:
  /// Collective over the job. Sets *made on success. -ENOMEM: the symmetric heap cannot grow by the size of the tables.
  /// -EOPNOTSUPP: loads and stores of this GPU do not reach a PE.
  static int make(const StateLayout& layout, std::unique_ptr<DeviceState>* made);

  [[nodiscard]] const StateLayout& layout() const noexcept { return layout_; }
  /// The contents of nvshmemi_device_state_d: layout().state_bytes bytes.
  [[nodiscard]] const StateImage& image() const noexcept { return image_; }

  /// Describes a team to GPU code. Its members must synchronize before they use it there. -ERANGE: 255 teams had its
  /// slot before, so the table has no room for its handle; gdrkit_shmem_last_error() is not set.
  int add_team(std::int32_t handle);
  /// Removes the description. GPU code must not use the team any more.
  int remove_team(std::int32_t handle);

 private:
  DeviceState(const StateLayout& layout, int pe, int n_pes) noexcept : layout_(layout), pe_(pe), n_pes_(n_pes) {}
  int allocate();
  int fill_image(const gdrkit_shmem_info& info);
  int fill_peer_heaps(std::uint64_t heap_address);
  int write_team(std::int32_t handle, int index, const std::vector<int>& members);
  int clear_words(int index);

  const StateLayout& layout_;
  const int pe_;
  const int n_pes_;
  StateImage image_;
  // Addresses in the symmetric heap.
  Address sync_words_ = 0;
  Address sync_counts_ = 0;
  Address teams_ = 0;
  Address pool_ = 0;
  Address peer_heaps_ = 0;
  Address scratch_ = 0;
  std::uint64_t team_stride_ = 0;
  std::uint64_t used_slots_ = 0;  // by a team now or before
};

}  // namespace gdrkit::shmem_impl::nvshmem
