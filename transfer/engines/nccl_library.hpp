// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NcclLibrary: the collectives of an installed NCCL, with the signatures that the loops of shmem bench call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cli/interface/demand.hpp"
#include "platform/device/device.hpp"
#include "transfer/engines/empty_library.hpp"
#include "transfer/engines/nccl_rank.hpp"

namespace gdrkit::transfer::engines {

/// Functions throw Failure with NCCL's error message.
class NcclLibrary : public EmptyLibrary {
 public:
  NcclLibrary() noexcept = default;
  NcclLibrary(const NcclRank& rank, platform::Device& device) noexcept : rank_(&rank), device_(&device) {}

  int quiet() const { return 0; }  ///< synchronize completes everything
  int broadcast_on_stream(auto... all) const { return enqueue(CollectiveKind::broadcast, all...); }
  int fcollect_on_stream(auto... all) const { return enqueue(CollectiveKind::all_gather, all...); }
  int alltoall_on_stream(auto... all) const { return enqueue(CollectiveKind::alltoall, all...); }
  int reduce_on_stream(auto... all) const { return enqueue(CollectiveKind::all_reduce, all...); }
  int reducescatter_on_stream(auto... all) const { return enqueue(CollectiveKind::reduce_scatter, all...); }
  int synchronize(void* stream) const {
    cli::demand(device_->synchronize(platform::Stream{reinterpret_cast<std::uint64_t>(stream)}));
    rank_->check();
    return 0;
  }

 private:
  /// The root is rank 0. Reductions add floats.
  int enqueue(CollectiveKind kind, void* target, const void* source, std::size_t size_bytes, void* stream) const {
    const Collective& collective = all_collectives()[static_cast<std::size_t>(kind)];
    const ElementType& type =
        element_type_of(collective.is_reducing ? platform::NcclType::float32 : platform::NcclType::uint8);
    rank_->enqueue({&collective, reinterpret_cast<std::uint64_t>(source), reinterpret_cast<std::uint64_t>(target),
                    size_bytes / type.size_bytes, &type, &all_reductions().front()},
                   stream);
    return 0;
  }

  const NcclRank* rank_ = nullptr;
  platform::Device* device_ = nullptr;
};

}  // namespace gdrkit::transfer::engines
