// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Context, Pin, Mapping, Buffer behind checked handles: lifetime, threads, forks. Names no backend and no
// instruction set.
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

// All calls are thread-safe, with one exception: unmap, unpin or close of a mapping while another thread
// copies through it (copy_path.hpp). Of calls that race to end the same thing exactly one does it, the others get
// EINVAL.

struct ContextInfo {
  backend::Traits traits;
  const char* store_kernel_name = "";  ///< copy kernel for host to device on a write-combining mapping
  const char* load_kernel_name = "";
};

struct PinOptions {
  bool force_pcie = false;  ///< EINVAL where the backend does not support it
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
  void* mapping_address = nullptr;  ///< CPU address of page_address, nullptr when not mapped
  std::size_t mapping_bytes = 0;    ///< bytes mapped from mapping_address
};

/// Opens a context on settings.backend, or on the first automatic backend that can run. The error's text lists
/// every backend tried and its reason. ENODEV when none can run.
[[nodiscard]] base::Result<Handle> open(const base::Settings& settings) noexcept;
/// Unmaps, unpins and frees all that is left, runs to its end, returns the first error. In a forked child EACCES while
/// pins or buffers live, else only the handle becomes invalid.
base::Status close(Handle context) noexcept;
[[nodiscard]] base::Result<ContextInfo> context_info(Handle context) noexcept;

[[nodiscard]] base::Result<Handle> pin(Handle context, std::uint64_t address, std::size_t size_bytes,
                                       const PinOptions& options) noexcept;
/// Unmaps if mapped; afterwards the handle is invalid in every case. `context` 0: the pin's own context; else a
/// pin of another context is EINVAL.
base::Status unpin(Handle context, Handle pin) noexcept;
/// shown: a mapping that lost its memory counts as none; that may take a system call.
enum class Mapped : std::uint8_t { recorded, shown };
[[nodiscard]] base::Result<PinInfo> pin_info(Handle context, Handle pin, Mapped mapped = Mapped::recorded) noexcept;
[[nodiscard]] base::Result<bool> is_invalidated(Handle context, Handle pin) noexcept;

/// Where the user's own first byte may be. page is GDRCopy's rule: at the start of a page, except on dma-bufs, where
/// `size_bytes` then counts from that byte.
enum class MapStart : std::uint8_t { anywhere, page };
/// Maps the pin's pages, from the first page on, at least up to `size_bytes` past page_address (nullopt: all). EAGAIN
/// if mapped already, EINVAL for a start that `start` excludes, size 0 or past the pinned pages, EOPNOTSUPP for an
/// impossible mapping type. `engine`: nullptr: the CPU; else as engine::Engines::open_path.
[[nodiscard]] base::Result<PinInfo> map(Handle context, Handle pin, std::optional<std::size_t> size_bytes,
                                        cpu::MappingType requested, MapStart start = MapStart::anywhere,
                                        const char* engine = nullptr) noexcept;
/// Copies through a mapping that was given an engine (by_engine, copy_path.hpp); offset and range as write() and
/// read(). `host` is only read where the copy is a write.
base::Status copy_by_engine(Handle pin, bool is_write, std::size_t offset, void* host, std::size_t size_bytes) noexcept;
/// The same for what copy_to_mapping() and copy_from_mapping() hand over; `device` as there.
base::Status copy_mapping_by_engine(Handle pin, bool is_write, void* device, void* host,
                                    std::size_t size_bytes) noexcept;
/// One piece of a copy: `offset` as for write() and read(); `host` is only read where the copy is a write.
/// Has the layout of gdrkit_write_segment and gdrkit_read_segment, which are read through it.
struct [[gnu::may_alias]] Segment {
  std::size_t offset = 0;
  void* host = nullptr;
  std::size_t size_bytes = 0;
};
/// Moves the segments one after the other, or by an engine all at once; nothing where one of them is wrong (EINVAL).
base::Status copy_segments(Handle pin, bool is_write, std::span<const Segment> segments) noexcept;
/// The same, complete when finish_copy() has returned. An engine of the GPU or of other threads works asynchronously;
/// what it cannot perform is performed here or there. Unmapping the pin finishes what is left.
[[nodiscard]] base::Result<Handle> start_copy(Handle pin, bool is_write, std::span<const Segment> segments) noexcept;
[[nodiscard]] base::Result<bool> is_copy_done(Handle copy) noexcept;
/// Waits; the handle is invalid afterwards. The copy's own error, EINVAL for another handle.
base::Status finish_copy(Handle copy) noexcept;
/// EINVAL when not mapped, or mapped elsewhere than at `expected` (nullptr: wherever it is).
base::Status unmap(Handle context, Handle pin, const void* expected = nullptr) noexcept;

struct BufferInfo {
  int device = 0;  ///< as CUDA counts
  std::uint64_t address = 0;
  std::size_t size_bytes = 0;
};

/// Device memory from the context's backend. EINVAL for size 0, ENODEV for a device that does not exist, ENOMEM.
[[nodiscard]] base::Result<Handle> allocate_buffer(Handle context, int device, std::size_t size_bytes) noexcept;
/// Afterwards the handle is invalid in every case. Pins of the memory stay, as after any owner's free.
base::Status free_buffer(Handle buffer) noexcept;
[[nodiscard]] base::Result<BufferInfo> buffer_info(Handle buffer) noexcept;
/// Copies by the driver, complete on return. EINVAL for a NULL host pointer or a range outside the buffer; a size of 0
/// is nothing to do.
base::Status copy_to_buffer(Handle buffer, std::size_t offset, const void* host, std::size_t size_bytes) noexcept;
base::Status copy_from_buffer(Handle buffer, std::size_t offset, void* host, std::size_t size_bytes) noexcept;

/// The file for the profile of this device's engines (CUDA's number); engine::Engines::profile_path.
[[nodiscard]] base::Result<std::string> engine_profile_path(Handle context, int device) noexcept;

/// Whether a backend can run on this machine.
struct BackendReport {
  const char* name = "";
  const char* summary = "";
  bool is_automatic = false;
  bool is_usable = false;
  int errno_value = 0;  ///< why not usable; `reason` is the error's text
  char reason[base::SharedText::capacity] = "";
};
/// Opens and closes backend number `index` in probe order; ENOENT past the last one.
[[nodiscard]] base::Result<BackendReport> probe_backend(unsigned index, const base::Settings& settings) noexcept;

struct CopyKernelReport {
  const char* name = "";
  bool is_usable = false;  ///< this CPU runs it
};
/// Copy kernel number `index`, best first; ENOENT past the last one.
[[nodiscard]] base::Result<CopyKernelReport> copy_kernel(unsigned index) noexcept;

}  // namespace gdrkit::core
