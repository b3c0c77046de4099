// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Contexts, pins, mappings and buffers behind checked handles: lifetime, threads, forks. Independent of specific
// backends and instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "core/handle.hpp"
#include "cpu/mapping_type.hpp"

namespace gdrkit::core {

using backend::Verification;
using cpu::MappingType;

// All calls may run concurrently, with one exception: do not unmap, unpin or close a mapping while another thread
// copies through it (copy_path.hpp). If several calls race to end the same object, exactly one succeeds and the others
// return EINVAL.

struct ContextInfo {
  backend::Traits traits;
  const char* store_kernel_name = "";  ///< copy kernel for host to device on a write-combining mapping
  const char* load_kernel_name = "";
};

struct PinOptions {
  bool force_pcie = false;  ///< EINVAL if the backend does not support it
  bool exact_range = true;  ///< see backend::PinRequest
};

struct PinInfo {
  std::uint64_t page_address = 0;  ///< device address rounded down to the page
  std::size_t page_bytes = 0;
  std::uint64_t user_address = 0;
  std::size_t user_bytes = 0;
  std::uint32_t page_size_bytes = 0;
  backend::PinCost cost;
  bool is_mapped = false;
  cpu::MappingType mapping_type = cpu::MappingType::none;
  backend::Verification verification = backend::Verification::none;
  void* mapping_address = nullptr;  ///< CPU address of page_address; nullptr if not mapped
  std::size_t mapping_bytes = 0;    ///< bytes mapped from mapping_address
};

/// Opens a context on settings.backend, or on the first automatic backend that is usable. ENODEV: none is usable; the
/// text lists the reason of every backend.
[[nodiscard]] base::Result<Handle> open(const base::Settings& settings) noexcept;
/// Unmaps, unpins and frees everything that is left, continues after errors, and returns the first one. In a forked
/// child only invalidates the handle; EACCES if the inherited context has pins or buffers.
base::Status close(Handle context) noexcept;
[[nodiscard]] base::Result<ContextInfo> context_info(Handle context) noexcept;

[[nodiscard]] base::Result<Handle> pin(Handle context, std::uint64_t address, std::size_t size_bytes,
                                       const PinOptions& options) noexcept;
// In the calls below, nullopt as `context` accepts a pin of any context. Otherwise a pin of another one is EINVAL.

/// Unmaps if mapped, and unpins. The handle is invalid afterwards, even on error.
base::Status unpin(std::optional<Handle> context, Handle pin) noexcept;
/// shown: a mapping that lost its memory counts as none; that may take a system call.
enum class Mapped : std::uint8_t { recorded, shown };
[[nodiscard]] base::Result<PinInfo> pin_info(std::optional<Handle> context, Handle pin,
                                             Mapped mapped = Mapped::recorded) noexcept;
/// The same without locks and system calls: pages, page size, cost, and the mapping's type as `shown`. The other
/// members are unspecified. nullopt: only pin_info() can describe the pin or the error.
[[nodiscard]] std::optional<PinInfo> pin_summary(Handle context, Handle pin) noexcept;
[[nodiscard]] base::Result<bool> is_invalidated(std::optional<Handle> context, Handle pin) noexcept;

/// Where the user's range may start within its first page. `page` is GDRCopy's rule: at the start of the page. On
/// dma-bufs it may start anywhere, and `size_bytes` then counts from the start of the range.
enum class MapStart : std::uint8_t { anywhere, page };
/// Maps the pages of the pin from the first page on, at least `size_bytes` (nullopt: all). `engine`: as for
/// engine::Engines::open_path. EAGAIN: already mapped. EINVAL: `start` is violated, or the size is 0 or exceeds the
/// pinned pages. EOPNOTSUPP: unsupported mapping type.
[[nodiscard]] base::Result<PinInfo> map(std::optional<Handle> context, Handle pin,
                                        std::optional<std::size_t> size_bytes, cpu::MappingType requested,
                                        MapStart start = MapStart::anywhere, const char* engine = "") noexcept;
/// Copies through a mapping with an engine (by_engine, copy_path.hpp). Offset and range are as for write() and read().
/// A write only reads `host`.
base::Status copy_by_engine(Handle pin, bool is_write, std::size_t offset, void* host, std::size_t size_bytes) noexcept;
/// The same for copies of copy_to_mapping() and copy_from_mapping(), with their `device`, which a size of 0 ignores.
base::Status copy_mapping_by_engine(Handle pin, bool is_write, void* device, void* host,
                                    std::size_t size_bytes) noexcept;
/// One segment of a copy. `offset` is as for write() and read(); a write only reads `host`. Has the layout of
/// gdrkit_write_segment and gdrkit_read_segment and may alias them.
struct [[gnu::may_alias]] Segment {
  std::size_t offset = 0;
  void* host = nullptr;
  std::size_t size_bytes = 0;
};
/// Copies the segments one after the other, or all at once with an engine. EINVAL: a segment is invalid; nothing was
/// copied.
base::Status copy_segments(Handle pin, bool is_write, std::span<const Segment> segments) noexcept;
/// Starts the same copy; finish_copy() completes it. An engine of the GPU or of other threads may continue
/// asynchronously; other parts are copied in start_copy() or finish_copy(). Unmapping the pin finishes its copies.
[[nodiscard]] base::Result<Handle> start_copy(Handle pin, bool is_write, std::span<const Segment> segments) noexcept;
[[nodiscard]] base::Result<bool> is_copy_done(Handle copy) noexcept;
/// Waits for the copy, invalidates the handle, and returns the error of the copy. EINVAL: invalid handle.
base::Status finish_copy(Handle copy) noexcept;
/// Unmaps the pin. EINVAL: not mapped, or not mapped at `expected` (nullptr: any address).
base::Status unmap(std::optional<Handle> context, Handle pin, const void* expected = nullptr) noexcept;

struct BufferInfo {
  int device = 0;  ///< CUDA device ordinal
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
};

/// Allocates device memory from the context's backend. EINVAL: size 0. ENODEV: invalid device. ENOMEM.
[[nodiscard]] base::Result<Handle> allocate_buffer(Handle context, int device, std::size_t size_bytes) noexcept;
/// Frees the buffer. The handle is invalid afterwards, even on error. Pins of the memory stay, as after every free by
/// its owner.
base::Status free_buffer(Handle buffer) noexcept;
[[nodiscard]] base::Result<BufferInfo> buffer_info(Handle buffer) noexcept;
/// Copies with the driver; the copy is complete on return. EINVAL: a range outside the buffer, or a NULL host pointer,
/// which only a size of 0 permits.
base::Status copy_to_buffer(Handle buffer, std::size_t offset, const void* host, std::size_t size_bytes) noexcept;
base::Status copy_from_buffer(Handle buffer, std::size_t offset, void* host, std::size_t size_bytes) noexcept;

/// The file of the engine profile of this device (CUDA device ordinal); see engine::Engines::profile_path.
[[nodiscard]] base::Result<std::string> engine_profile_path(Handle context, int device) noexcept;

struct BackendReport {
  const backend::Registration* backend = nullptr;
  base::Status usable;  ///< on this machine, or the reason why not
};
/// Opens and closes backend number `index` in probe order. ENOENT: the index is out of range.
[[nodiscard]] base::Result<BackendReport> probe_backend(unsigned index, const base::Settings& settings) noexcept;

struct CopyKernelReport {
  const char* name = "";
  bool is_usable = false;  ///< this CPU supports it
};
/// Copy kernel number `index`, in order of preference. ENOENT: the index is out of range.
[[nodiscard]] base::Result<CopyKernelReport> copy_kernel(unsigned index) noexcept;

}  // namespace gdrkit::core
