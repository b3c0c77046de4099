// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/cuda_memory_map.hpp"

#include <algorithm>
#include <iterator>

namespace gdrkit::fakes {
namespace {

constexpr int no_ordinal = -2;  // CUDA's result for unknown addresses
enum MemoryType : std::uint32_t { host_type = 1, device_type = 2 };

}  // namespace

void CudaMemoryMap::add_allocation(CudaAllocation allocation) {
  allocation.buffer_id = next_buffer_id_++;
  allocations_[allocation.start] = allocation;
}

const CudaBlock* CudaMemoryMap::block_at(std::uint64_t address) const {
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const CudaBlock& block = std::prev(next)->second;
  return address - block.base < block.size_bytes ? &block : nullptr;
}

const CudaAllocation* CudaMemoryMap::allocation_at(std::uint64_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const CudaAllocation& allocation = std::prev(next)->second;
  return address - allocation.start < allocation.size_bytes ? &allocation : nullptr;
}

bool CudaMemoryMap::has_allocations_in(const CudaBlock& block) const {
  return std::any_of(allocations_.begin(), allocations_.end(), [&](const auto& entry) {
    const CudaAllocation& allocation = entry.second;
    return allocation.start < block.base + block.size_bytes && allocation.start + allocation.size_bytes > block.base;
  });
}

driver::PointerAttributes CudaMemoryMap::attributes(std::uint64_t address) const {
  driver::PointerAttributes at;
  const CudaAllocation* allocation = allocation_at(address);
  const CudaBlock* block = block_at(address);
  if (allocation == nullptr || block == nullptr) {
    at.device_ordinal = no_ordinal;
    for (const auto& [base, other] : blocks_) {
      if (other.kind != CudaKind::vmm || address - other.range_start >= other.range_bytes) continue;
      at.range_start = other.range_start;
      at.range_size = other.range_bytes;
    }
    return at;
  }
  at.context = reinterpret_cast<void*>(allocation->context);
  at.memory_type = allocation->kind == CudaKind::host ? host_type : device_type;
  at.is_managed = allocation->kind == CudaKind::managed ? 1 : 0;
  at.device_ordinal = allocation->ordinal;
  at.buffer_id = allocation->buffer_id;
  at.range_start = block->kind == CudaKind::vmm ? block->range_start : allocation->start;
  at.range_size = block->kind == CudaKind::vmm ? block->range_bytes : allocation->size_bytes;
  at.mapping_base = block->base;
  at.mapping_size = block->size_bytes;
  at.allowed_handle_types = block->is_exportable ? 1 : 0;
  at.is_legacy_ipc_capable = block->kind == CudaKind::malloc ? 1 : 0;
  return at;
}

std::optional<std::vector<CudaMemoryMap::ExportPiece>> CudaMemoryMap::export_pieces(std::uint64_t address,
                                                                                    std::uint64_t size) const {
  const CudaBlock* block = block_at(address);
  std::vector<ExportPiece> pieces;
  if (block == nullptr) {
    // A range that begins just below a block is passed on with a negative offset, which the driver rejects.
    const CudaBlock* above = block_at(address + size - 1);
    if (size == 0 || above == nullptr || above->object == 0 || above->kind == CudaKind::pool) return std::nullopt;
    return std::vector<ExportPiece>{{above->object, address - above->base, size}};
  }
  if (block->object == 0) return std::nullopt;
  if (block->kind == CudaKind::pool && allocation_at(address) == nullptr) return std::nullopt;
  const std::uint64_t offset = address - block->base;
  if (cuts_pool_pieces && block->kind == CudaKind::pool && size < block->size_bytes) {
    // libcuda's bug: the first piece of a pool's range is cut as if the range began at its block.
    pieces.push_back({block->object, offset, size - offset});
    return pieces;
  }
  std::uint64_t left = size;
  for (std::uint64_t at = address; left > 0;) {
    const CudaBlock* part = block_at(at);
    if (part == nullptr || part->object == 0 || part->kind != block->kind) return std::nullopt;
    const std::uint64_t inside = at - part->base;
    const std::uint64_t bytes = std::min(left, part->size_bytes - inside);
    pieces.push_back({part->object, inside, bytes});
    at += bytes;
    left -= bytes;
  }
  return pieces;
}

}  // namespace gdrkit::fakes
