// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Context, Pin, Mapping behind checked handles: lifetime, threads, forks. Knows no backend and no instruction set by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "cpu/mapping_type.hpp"

namespace gdrkit::core {

/// A context's or pin's name: slot index, generation and a tag of this library's instance. Never 0. A NULL, stale,
/// foreign or invented handle is recognised and answered with EINVAL.
using Handle = std::uint64_t;

struct ContextInfo {
  backend::Traits traits;
  const char* store_kernel_name = "";  ///< copy kernel for host to device on a write-combining mapping
  const char* load_kernel_name = "";
};

struct PinOptions {
  bool force_pcie = false;   ///< EINVAL where the backend does not support it
  bool exact_range = true;   ///< see backend::PinRequest
};

struct PinInfo {
  std::uint64_t page_address = 0;  ///< device address rounded down to the page
  std::size_t page_bytes = 0;
  std::uint64_t user_address = 0;
  std::size_t user_bytes = 0;
  std::uint32_t page_size_bytes = 0;
  bool is_mapped = false;
  cpu::MappingType mapping_type = cpu::MappingType::none;
  backend::Verification verification = backend::Verification::none;
  void* mapping_address = nullptr;  ///< CPU address of page_address, nullptr when not mapped
  std::size_t mapping_bytes = 0;    ///< bytes mapped from mapping_address
};

/// Opens a context on settings.backend, or on the first automatic backend that can run. On failure the detail lists every
/// backend tried and its reason. ENODEV when none can run.
[[nodiscard]] base::Result<Handle> open(const base::Settings& settings) noexcept;
/// Unmaps and unpins all that is left, runs to its end, returns the first error. EACCES in a forked child while pins live.
base::Status close(Handle context) noexcept;
[[nodiscard]] base::Result<ContextInfo> context_info(Handle context) noexcept;

[[nodiscard]] base::Result<Handle> pin(Handle context, std::uint64_t address, std::size_t size_bytes,
                                       const PinOptions& options) noexcept;
/// Unmaps if mapped. `context` 0: whichever owns the pin; else a pin of another context is EINVAL.
base::Status unpin(Handle context, Handle pin) noexcept;
[[nodiscard]] base::Result<PinInfo> pin_info(Handle context, Handle pin) noexcept;
[[nodiscard]] base::Result<bool> is_invalidated(Handle context, Handle pin) noexcept;

/// Maps the pin's pages, from the first page on, at least up to `size_bytes` past page_address. EAGAIN if mapped already, EINVAL
/// for size 0 or past the pinned pages, EOPNOTSUPP for an impossible mapping type.
[[nodiscard]] base::Result<PinInfo> map(Handle context, Handle pin, std::size_t size_bytes,
                                        cpu::MappingType requested) noexcept;
/// EINVAL when not mapped. The one call that must not run while another thread copies through this same mapping.
base::Status unmap(Handle context, Handle pin) noexcept;

/// The copy path: no system call, lock, allocation, log line or environment read. 0, or EINVAL for a bad handle, an
/// unmapped pin or a range outside the mapping. `device` is an address inside the mapping.
int copy_to_mapping(Handle pin, void* device, const void* host, std::size_t size_bytes) noexcept;
int copy_from_mapping(Handle pin, void* host, const void* device, std::size_t size_bytes) noexcept;
/// The same by offset from the user's own first byte, inside the user's own range.
int write(Handle pin, std::size_t offset, const void* host, std::size_t size_bytes) noexcept;
int read(Handle pin, std::size_t offset, void* host, std::size_t size_bytes) noexcept;

}  // namespace gdrkit::core
