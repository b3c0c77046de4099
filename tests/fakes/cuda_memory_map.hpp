// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CudaMemoryMap: the device addresses that CUDA has allocated, their blocks and their attributes. The rules
// follow a recording of libcuda 580.159.04.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "driver/cuda.hpp"
#include "fakes/physical_memory.hpp"
#include "fakes/rm_state.hpp"

namespace gdrkit::fakes {

enum class CudaKind { malloc, vmm, pool, managed, host, ipc_import };

/// One memory object mapped at one address. Sub-allocations of malloc and pools share one.
struct CudaBlock {
  std::uint64_t base = 0;
  std::uint64_t size_bytes = 0;
  CudaKind kind = CudaKind::malloc;
  int ordinal = 0;
  std::shared_ptr<PhysicalMemory> memory;  ///< null for managed and host memory
  Handle object = 0;                       ///< its handle in CUDA's RM client; 0: none
  bool is_exportable = false;
  std::uint64_t range_start = 0;  ///< vmm: the whole address reservation
  std::uint64_t range_bytes = 0;
};

struct CudaAllocation {
  std::uint64_t start = 0;
  std::uint64_t size_bytes = 0;
  CudaKind kind = CudaKind::malloc;
  int ordinal = 0;
  std::uint64_t context = 0;  ///< 0 for vmm and pools
  std::uint64_t buffer_id = 0;
  bool is_scratch = false;  ///< allocated by the code under test, which may write to it
  bool is_accessible = true;
};

/// Not thread safe.
class CudaMemoryMap {
 public:
  void add_block(const CudaBlock& block) { blocks_[block.base] = block; }
  void remove_block(std::uint64_t base) { blocks_.erase(base); }
  /// Assigns the buffer id.
  void add_allocation(CudaAllocation allocation);
  void remove_allocation(std::uint64_t start) { allocations_.erase(start); }
  void allow_access(std::uint64_t start) { allocations_.at(start).is_accessible = true; }

  [[nodiscard]] const CudaBlock* block_at(std::uint64_t address) const;
  [[nodiscard]] const CudaAllocation* allocation_at(std::uint64_t address) const;
  [[nodiscard]] bool is_accessible(std::uint64_t address) const {
    const CudaAllocation* allocation = allocation_at(address);
    return allocation != nullptr && allocation->is_accessible;
  }
  [[nodiscard]] bool has_allocations_in(const CudaBlock& block) const;
  [[nodiscard]] const std::map<std::uint64_t, CudaBlock>& blocks() const noexcept { return blocks_; }

  /// cuPointerGetAttributes, which succeeds for any address.
  [[nodiscard]] driver::PointerAttributes attributes(std::uint64_t address) const;

  /// One object of a dma-buf export as libcuda passes it to the driver, right or wrong.
  struct ExportPiece {
    Handle object = 0;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  bool cuts_pool_pieces = true;  ///< as libcuda 580 does with ranges inside a pool's block
  /// nullopt: libcuda rejects the export without a call to the driver.
  [[nodiscard]] std::optional<std::vector<ExportPiece>> export_pieces(std::uint64_t address, std::uint64_t size) const;

 private:
  std::map<std::uint64_t, CudaBlock> blocks_;
  std::map<std::uint64_t, CudaAllocation> allocations_;
  std::uint64_t next_buffer_id_ = 0x38b;
};

}  // namespace gdrkit::fakes
