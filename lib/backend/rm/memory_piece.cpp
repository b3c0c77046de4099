// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/memory_piece.hpp"

#include <cstring>

#include "backend/rm/rm_abi.hpp"
#include "backend/rm/rm_status.hpp"

namespace gdrkit::backend::rm {
namespace {

/// Offsets in the parameters of EXPORT_TO_DMABUF_FD: 2600 bytes up to driver 565, 2608 bytes since 570.
struct ExportLayout {
  std::size_t bytes, handles, offsets, sizes, status;
};
constexpr ExportLayout layouts[] = {{2600, 32, 544, 1568, 2592}, {2608, 36, 552, 1576, 2600}};
constexpr std::uint32_t objects_per_call = 128;

template <class T>
T field(const std::vector<std::uint8_t>& bytes, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

const ExportLayout* find_layout(const driver::ObservedIoctl& seen) noexcept {
  for (const ExportLayout& layout : layouts) {
    if (_IOC_SIZE(seen.request) == layout.bytes && seen.argument.size() == layout.bytes) return &layout;
  }
  return nullptr;
}

struct Totals {
  std::uint32_t client = 0;
  std::uint32_t objects = 0;
  std::uint64_t bytes = 0;
};

base::Status decode_one(const driver::ObservedIoctl& seen, std::uint64_t size_bytes, Totals& totals,
                        std::vector<MemoryPiece>& pieces) {
  const ExportLayout* layout = find_layout(seen);
  if (layout == nullptr) {
    return base::fail(EIO,
                      "cannot pin the memory: CUDA's dma-buf export has an unknown format (%u bytes); update gdrkit",
                      static_cast<unsigned>(_IOC_SIZE(seen.request)));
  }
  const auto& bytes = seen.argument;
  const auto status = field<std::uint32_t>(bytes, layout->status);
  if (seen.result < 0 || status != status::ok) {
    return base::fail_vendor(EIO, static_cast<int>(status),
                             "cannot pin the memory: CUDA's dma-buf export failed with errno %d, status 0x%x (%s)",
                             -seen.result, status, status_name(status));
  }
  const auto client = field<std::uint32_t>(bytes, 4);
  const auto total_objects = field<std::uint32_t>(bytes, 8);
  const auto count = field<std::uint32_t>(bytes, 12);
  const auto index = field<std::uint32_t>(bytes, 16);
  const auto total_bytes = field<std::uint64_t>(bytes, 24);
  if (pieces.empty()) totals = {client, total_objects, 0};
  const bool is_consistent = client != 0 && client == totals.client && total_objects == totals.objects && count > 0 &&
                             count <= objects_per_call && index == pieces.size() &&
                             count <= total_objects - static_cast<std::uint32_t>(pieces.size()) &&
                             total_bytes == size_bytes;
  if (!is_consistent)
    return base::fail(
        EIO, "cannot pin the memory: CUDA's dma-buf export contains contradictory handles or sizes; update gdrkit");
  for (std::uint32_t i = 0; i < count; ++i) {
    MemoryPiece piece{client, field<std::uint32_t>(bytes, layout->handles + 4 * std::size_t{i}),
                      field<std::uint64_t>(bytes, layout->offsets + 8 * std::size_t{i}),
                      field<std::uint64_t>(bytes, layout->sizes + 8 * std::size_t{i})};
    std::uint64_t end = 0;
    if (piece.object == 0 || piece.size_bytes == 0 || __builtin_add_overflow(piece.offset, piece.size_bytes, &end) ||
        piece.size_bytes > size_bytes - totals.bytes) {
      return base::fail(
          EIO, "cannot pin the memory: handle %u of CUDA's dma-buf export has an invalid range; update gdrkit", i);
    }
    totals.bytes += piece.size_bytes;
    pieces.push_back(piece);
  }
  return {};
}

}  // namespace

base::Result<std::vector<MemoryPiece>> decode_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                     std::uint64_t size_bytes) noexcept try {
  std::vector<MemoryPiece> pieces;
  Totals totals;
  for (const driver::ObservedIoctl& seen : ioctls) {
    if (auto decoded = decode_one(seen, size_bytes, totals, pieces); !decoded) return base::pass(decoded);
  }
  if (pieces.empty()) {
    return base::fail(EIO,
                      "cannot pin the memory: gdrkit did not observe CUDA's dma-buf export; stop other tools that "
                      "intercept ioctl calls");
  }
  if (pieces.size() != totals.objects || totals.bytes != size_bytes) {
    return base::fail(EIO, "cannot pin the memory: CUDA's dma-buf export has %u handles, but gdrkit observed only %zu",
                      totals.objects, pieces.size());
  }
  return pieces;
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while decoding CUDA's dma-buf export");
}

base::Result<MemoryPiece> decode_rejected_export(const std::vector<driver::ObservedIoctl>& ioctls,
                                                 std::uint64_t expected_offset, std::uint64_t size_bytes) noexcept {
  const ExportLayout* layout = ioctls.size() == 1 ? find_layout(ioctls[0]) : nullptr;
  if (layout == nullptr)
    return base::fail(
        EIO, "cannot pin the memory: CUDA rejected its dma-buf export, and gdrkit found no other handle of it");
  const auto& bytes = ioctls[0].argument;
  const MemoryPiece piece{field<std::uint32_t>(bytes, 4), field<std::uint32_t>(bytes, layout->handles),
                          field<std::uint64_t>(bytes, layout->offsets), size_bytes};
  const bool is_expected = ioctls[0].result == 0 &&
                           field<std::uint32_t>(bytes, layout->status) == status::invalid_argument &&
                           field<std::uint32_t>(bytes, 8) == 1 && field<std::uint32_t>(bytes, 12) == 1 &&
                           piece.client != 0 && piece.object != 0 && piece.offset == expected_offset && size_bytes != 0;
  if (!is_expected)
    return base::fail(
        EIO,
        "cannot pin the memory: CUDA rejected the dma-buf export, and gdrkit observed no valid handle of the memory");
  return piece;
}

// Words as observed in handles of driver 580.159.04: 4-5 size of the allocation, 6 size of its block in 4 KiB units, 7
// offset in the block, 12 RM client, 13 RM memory object.
base::Result<IpcMemory> decode_ipc_handle(const driver::CudaIpcHandle& handle, std::uint64_t range_size) noexcept {
  std::uint32_t words[16];
  static_assert(sizeof words == sizeof handle);
  std::memcpy(words, handle.data(), sizeof words);
  IpcMemory memory;
  memory.allocation.client = words[12];
  memory.allocation.object = words[13];
  memory.allocation.offset = words[7];
  memory.allocation.size_bytes = words[4] | std::uint64_t{words[5]} << 32;
  memory.object_bytes = std::uint64_t{words[6]} * 4096;
  const MemoryPiece& piece = memory.allocation;
  const bool is_plausible = piece.client != 0 && piece.object != 0 && piece.size_bytes == range_size &&
                            range_size != 0 && piece.offset < memory.object_bytes &&
                            piece.size_bytes <= memory.object_bytes - piece.offset;
  if (!is_plausible)
    return base::fail(EIO, "cannot pin the memory: CUDA's IPC handle has an unknown format; update gdrkit");
  return memory;
}

}  // namespace gdrkit::backend::rm
