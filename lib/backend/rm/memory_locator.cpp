// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/memory_locator.hpp"

#include <algorithm>
#include <cinttypes>

#include "backend/rm/rm_status.hpp"

namespace gdrkit::backend::rm {
namespace {

/// Rejects an object that is not video memory or is too short for the piece.
base::Status check_object(RmClient& client, const OwnedPiece& piece) noexcept {
  AddrSpaceType space{piece.object, 0, 0};
  if (auto read = client.control(client.root(), control::client_get_addr_space_type, &space, sizeof space); !read) {
    return read;
  }
  if (space.type != addr_space_video_memory) {
    return base::fail(
        EOPNOTSUPP,
        "cannot pin the memory: the range is not in video memory (address space type %u); pin device memory",
        space.type);
  }
  InfoEntry size{surface_size_in_4k, 0};
  SurfaceInfo info{1, 0, reinterpret_cast<std::uint64_t>(&size)};
  if (auto read = client.control(piece.object, control::memory_get_surface_info, &info, sizeof info); !read)
    return read;
  const std::uint64_t object_bytes = std::uint64_t{size.data} * 4096;
  if (piece.size_bytes == 0 || piece.offset > object_bytes || piece.size_bytes > object_bytes - piece.offset) {
    return base::fail(EIO,
                      "cannot pin %" PRIu64 " bytes at offset %" PRIu64
                      " of an allocation: the driver reports an allocation of only %" PRIu64 " bytes",
                      piece.size_bytes, piece.offset, object_bytes);
  }
  return {};
}

base::Status add_duplicate(RmDevice& device, const MemoryPiece& piece, OwnedMemory& memory) {
  RmClient& client = device.client();
  memory.pieces.push_back({});  // allocates the space first, so that no duplicate can be lost
  memory.pieces.pop_back();
  ObjectHandle parent = device.device();
  auto duplicate = client.duplicate(parent, piece.client, piece.object);
  // Memory that was allocated under a subdevice must be duplicated under a subdevice.
  if (!duplicate && duplicate.error().vendor_code == static_cast<int>(status::invalid_object_parent)) {
    parent = device.subdevice();
    duplicate = client.duplicate(parent, piece.client, piece.object);
  }
  if (!duplicate) {
    if (duplicate.error().vendor_code != static_cast<int>(status::insufficient_permissions))
      return base::pass(duplicate);
    return base::fail_vendor(EACCES, duplicate.error().vendor_code,
                             "cannot pin the memory: another process or an MPS server owns the memory (RM_DUP_OBJECT: "
                             "status 0x%x, %s); pin memory that this process allocated without MPS",
                             status::insufficient_permissions, status_name(status::insufficient_permissions));
  }
  memory.pieces.push_back({parent, *duplicate, piece.offset, piece.size_bytes, piece});
  return check_object(client, memory.pieces.back());
}

using Pieces = base::Result<std::vector<MemoryPiece>>;

/// Exports [address, address + size) as a dma-buf only to observe the handles. Closes the descriptor immediately.
int observe_export(const driver::CudaCalls& cuda, driver::System& system, std::uint64_t address, std::uint64_t size,
                   driver::ObservedExport& seen) {
  const int result = cuda.export_dmabuf(address, size, 0, &seen);
  if (seen.dmabuf_fd >= 0) system.close(seen.dmabuf_fd);
  seen.dmabuf_fd = -1;
  return result;
}

Pieces observed_pieces(const driver::ObservedExport& seen, int result, std::uint64_t size) {
  constexpr int invalid_value = 1;
  if (result == invalid_value) {
    return base::fail_vendor(EINVAL, result,
                             "cannot pin the memory: the range has holes or belongs to another process "
                             "(cuMemGetHandleForAddressRange: %s); pin one allocation of this process",
                             driver::cuda_result_name(result));
  }
  if (result != 0)
    return driver::cuda_failure(result, "cannot export the memory as a dma-buf: cuMemGetHandleForAddressRange");
  if (!seen.hook) {
    return base::fail(
        EOPNOTSUPP,
        "cannot pin the memory: gdrkit cannot observe the ioctl calls of libcuda (%s); set GDRKIT_BACKEND=gdrdrv, "
        "or, for memory from cudaMalloc, set GDRKIT_ALLOW_IPC_HANDLE=1",
        seen.hook.error().text());
  }
  return decode_export(seen.ioctls, size);
}

/// Drops the first `skip` bytes.
std::vector<MemoryPiece> trim_front(std::vector<MemoryPiece> pieces, std::uint64_t skip) {
  std::size_t whole = 0;
  while (whole < pieces.size() && skip >= pieces[whole].size_bytes) skip -= pieces[whole++].size_bytes;
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(whole));
  if (!pieces.empty()) {
    pieces.front().offset += skip;
    pieces.front().size_bytes -= skip;
  }
  return pieces;
}

/// For ranges inside one block of a pool. libcuda exports them only from the start of the block, and only while memory
/// is allocated there. Otherwise its rejected attempt still contains the object, and the pointer's attributes confirm
/// the offset.
Pieces pieces_inside_block(const driver::CudaCalls& cuda, driver::System& system, const DeviceRange& range,
                           const driver::ObservedExport& rejected) {
  const auto& at = range.attributes;
  const std::uint64_t end = range.page_address + range.page_bytes;
  if (at.mapping_size == 0 || range.page_address <= at.mapping_base || end > at.mapping_base + at.mapping_size) {
    return base::fail(
        EINVAL,
        "cannot pin the memory: the range is not inside one block of a memory pool; pin a range of one allocation");
  }
  driver::ObservedExport seen;
  const int result = observe_export(cuda, system, at.mapping_base, end - at.mapping_base, seen);
  if (auto pieces = observed_pieces(seen, result, end - at.mapping_base)) {
    return trim_front(std::move(*pieces), range.page_address - at.mapping_base);
  }
  auto piece = decode_rejected_export(rejected.ioctls, range.page_address - at.mapping_base, range.page_bytes);
  if (!piece) return base::pass(piece);
  return std::vector<MemoryPiece>{*piece};
}

base::Status by_observed_export(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                                const DeviceRange& range, OwnedMemory& memory) {
  driver::ObservedExport seen;
  const int result = observe_export(cuda, system, range.page_address, range.page_bytes, seen);
  Pieces pieces = observed_pieces(seen, result, range.page_bytes);
  if (!pieces && result != 0) {
    if (auto inside = pieces_inside_block(cuda, system, range, seen)) pieces = std::move(inside);
  }
  if (!pieces) return base::pass(pieces);
  for (const MemoryPiece& piece : *pieces) {
    if (auto added = add_duplicate(device, piece, memory); !added) return added;
  }
  return {};
}

/// Imports one mapping of exportable memory: allocation handle -> file -> object under our device.
base::Result<ObjectHandle> import_exported(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                                           std::uint64_t address) noexcept {
  std::uint64_t handle = 0;
  if (const int result = cuda.mem_retain_handle(&handle, reinterpret_cast<void*>(address)); result != 0) {
    return driver::cuda_failure(result, "cannot pin the memory: cuMemRetainAllocationHandle");
  }
  int fd = -1;
  const int result = cuda.mem_export(&fd, handle, driver::cuda_mem_handle_type_posix_fd, 0);
  (void)cuda.mem_release(handle);
  if (result != 0) return driver::cuda_failure(result, "cannot pin the memory: cuMemExportToShareableHandle");
  ImportObject import{fd, import_type_rm, device.device(), device.device(), 0};
  auto imported =
      device.client().control(device.client().root(), control::import_object_from_fd, &import, sizeof import);
  system.close(fd);
  if (!imported) return base::pass(imported);
  return import.object;
}

base::Status by_exported_file(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                              const DeviceRange& range, OwnedMemory& memory) {
  const std::uint64_t end = range.page_address + range.page_bytes;
  for (std::uint64_t address = range.page_address; address < end;) {
    driver::PointerAttributes at;
    if (const int result = driver::pointer_attributes(cuda, address, &at); result != 0) {
      return driver::cuda_failure(result, "cannot pin the memory: cuPointerGetAttributes");
    }
    if ((at.allowed_handle_types & driver::cuda_mem_handle_type_posix_fd) == 0 || at.mapping_size == 0) {
      return base::fail(EOPNOTSUPP,
                        "cannot pin the memory: it was created without CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR; set "
                        "this handle type in cuMemCreate");
    }
    std::uint64_t mapping_end = 0;
    if (at.mapping_base > address || __builtin_add_overflow(at.mapping_base, at.mapping_size, &mapping_end) ||
        mapping_end <= address) {
      return base::fail(EIO, "cannot pin the memory: CUDA reports an address range that does not contain the address");
    }
    memory.pieces.push_back({});  // allocates the space first, so that no object can be lost
    memory.pieces.pop_back();
    auto object = import_exported(cuda, system, device, address);
    if (!object) return base::pass(object);
    const std::uint64_t piece_end = std::min(end, mapping_end);
    memory.pieces.push_back({device.device(), *object, address - at.mapping_base, piece_end - address, {}});
    if (auto checked = check_object(device.client(), memory.pieces.back()); !checked) return checked;
    address = piece_end;
  }
  return {};
}

base::Status by_ipc_handle(const driver::CudaCalls& cuda, RmDevice& device, const DeviceRange& range,
                           OwnedMemory& memory) {
  driver::CudaIpcHandle handle{};
  if (const int result = cuda.ipc_get_mem_handle(handle.data(), range.attributes.range_start); result != 0) {
    return driver::cuda_failure(result, "cannot pin the memory: cuIpcGetMemHandle");
  }
  auto ipc = decode_ipc_handle(handle, range.attributes.range_size);
  if (!ipc) return base::pass(ipc);
  MemoryPiece piece = ipc->allocation;
  const std::uint64_t object_start = range.attributes.range_start - piece.offset;
  if (range.page_address < object_start || range.page_address + range.page_bytes > object_start + ipc->object_bytes) {
    return base::fail(EIO,
                      "cannot pin the memory: the range is not inside the allocation that CUDA's IPC handle describes");
  }
  piece.offset = range.page_address - object_start;
  piece.size_bytes = range.page_bytes;
  return add_duplicate(device, piece, memory);
}

/// Adds why another way failed.
base::Status with_reason(const base::Status& failed, const char* way, const base::Status& other) noexcept {
  return base::fail_vendor(failed.error().errno_value, failed.error().vendor_code, "%s; %s: %s", failed.error().text(),
                           way, other.error().text());
}

}  // namespace

base::Status OwnedMemory::free() noexcept {
  base::Status first;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    base::keep_first(first, client_->free(piece->parent, piece->object));
  }
  pieces.clear();
  return first;
}

base::Result<OwnedMemory> locate(const driver::CudaCalls& cuda, driver::System& system, RmDevice& device,
                                 const DeviceRange& range, const base::Settings& settings) noexcept try {
  OwnedMemory memory(device.client());
  auto found = by_observed_export(cuda, system, device, range, memory);
  if (found) return memory;
  if ((range.attributes.allowed_handle_types & driver::cuda_mem_handle_type_posix_fd) != 0) {
    (void)memory.free();
    const base::Status exported = by_exported_file(cuda, system, device, range, memory);
    if (exported) return memory;
    found = with_reason(found, "as an exported file", exported);
  }
  if (settings.allow_ipc_handle && range.attributes.is_legacy_ipc_capable != 0) {
    (void)memory.free();
    const base::Status opened = by_ipc_handle(cuda, device, range, memory);
    if (opened) return memory;
    found = with_reason(found, "with an IPC handle", opened);
  }
  return base::pass(found);
} catch (...) {
  return base::fail_literal(ENOMEM, "out of memory while pinning device memory");
}

}  // namespace gdrkit::backend::rm
