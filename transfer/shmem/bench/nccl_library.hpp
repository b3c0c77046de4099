// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NcclLibrary: the collectives of an installed NCCL as bench's loops call them. It has nothing else.
#pragma once

#include <cstddef>

#include "platform/device/device.hpp"
#include "platform/vendor/nccl_library.hpp"
#include "transfer/shmem/bench/empty_library.hpp"

namespace gdrkit::tools::shmem {

/// All throw Failure with NCCL's error message.
class NcclLibrary : public EmptyLibrary {
 public:
  NcclLibrary() noexcept = default;
  NcclLibrary(const platform::NcclCalls& calls, platform::NcclComm* communicator, int n_pes,
              platform::Device& device) noexcept
      : calls_(&calls), communicator_(communicator), n_pes_(n_pes), device_(&device) {}

  int quiet() const { return 0; }  ///< nothing of it outlives the synchronisation
  int broadcast_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const;
  int fcollect_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const;
  int alltoall_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const;
  int reduce_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const;
  int reducescatter_on_stream(void* target, const void* source, std::size_t size_bytes, void* stream) const;
  int synchronize(void* stream) const;

 private:
  void require(int code, const char* what) const;

  const platform::NcclCalls* calls_ = nullptr;
  platform::NcclComm* communicator_ = nullptr;
  int n_pes_ = 1;
  platform::Device* device_ = nullptr;
};

}  // namespace gdrkit::tools::shmem
