// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The contract of a backend, which pins device memory and maps it into the address space of the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "base/settings.hpp"
#include "cpu/mapping_type.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend {

using cpu::MappingType;

/// How the backend verified that a mapping refers to the requested memory.
enum class Verification : std::uint8_t {
  none = 0,        ///< not verified: the interface guarantees it (emulated; the device address itself)
  content = 1,     ///< compared the content of the memory with a read by CUDA
  structural = 2,  ///< the content was trivial: object size, address space and device agree
  calibrated = 3,  ///< structural, and a mapping of scratch memory of this device was verified
};

struct PinRequest {
  std::uint64_t address = 0;   ///< first byte of the user's range, any alignment, not 0
  std::size_t size_bytes = 0;  ///< size of the user's range, not 0; address + size_bytes does not overflow
  bool force_pcie = false;     ///< set only if traits().supports_force_pcie
  /// true: the range must lie inside its allocation. false (drop-in API, whose callers round to GPU pages): inside its
  /// allocation rounded out to 64 KiB.
  bool exact_range = true;
};

struct Traits {
  const char* name = "";
  std::uint32_t page_size_bytes = 65536;  ///< a power of two, at least the host's page
  /// The memory stays readable through the mapping after its owner freed it, unless the mapping is the device address.
  bool is_persistent = true;
  bool supports_force_pcie = false;
  bool uses_dmabuf_mmap = false;
  std::uint32_t module_version = 0;  ///< of its kernel module, major << 16 | minor; 0 without a module
  bool is_emulated = false;          ///< uses the memory of the emulated device, not of CUDA
  /// A test mapping was not possible when the backend was opened. The automatic choice prefers backends that were
  /// tested.
  bool is_untried = false;
};

struct MappedRegion {
  void* address = nullptr;  ///< CPU address of the first pinned page
  std::size_t size_bytes = 0;
  MappingType type = MappingType::none;
  Verification verification = Verification::none;
};

/// The duration of a pin, as measured by a kernel module; 0 without one.
struct PinCost {
  std::uint64_t cycles = 0;  ///< of the time stamp counter
  std::uint32_t cycles_per_ms = 0;
};

/// One pinned range: the enclosing pages of a request. Not thread safe: core serializes the calls on a pin, but calls
/// on different pins of one backend run in parallel. The destructor unmaps and unpins if necessary.
class BackendPin {
 public:
  virtual ~BackendPin() = default;

  [[nodiscard]] std::uint64_t page_address() const noexcept { return page_address_; }  ///< device address, page aligned
  [[nodiscard]] std::size_t page_bytes() const noexcept { return page_bytes_; }        ///< multiple of the page size
  [[nodiscard]] const std::string& device() const noexcept { return device_; }         ///< PCI address "0000:3b:00.0"
  [[nodiscard]] PinCost cost() const noexcept { return cost_; }

  /// Maps the first `size_bytes` of the pinned pages (rounded up to host pages, at most page_bytes()) for reading and
  /// writing. Forked children do not inherit the mapping. Core guarantees that a pin has at most one mapping.
  /// EOPNOTSUPP: the type `requested` is unsupported (none: the backend chooses). ENOMEM: the aperture is full.
  virtual base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept = 0;
  /// Undoes map, continues after errors, and returns the first one. The region is inaccessible afterwards, unless it is
  /// the device address itself, which belongs to CUDA.
  virtual base::Status unmap() noexcept = 0;
  /// Unmaps if necessary and releases the memory. Continues after errors and returns the first one.
  virtual base::Status unpin() noexcept = 0;
  /// True after the owner freed the memory and the backend detected it. Persistent backends: only if the mapping is the
  /// device address itself.
  [[nodiscard]] virtual bool is_invalidated() const noexcept { return false; }
  /// True if is_invalidated() is false until unpin: the pin keeps the memory after its owner freed it.
  [[nodiscard]] virtual bool keeps_memory() const noexcept { return false; }
  /// Called in a forked child, single-threaded, inside the atfork handler. Releases inherited resources (closes file
  /// descriptors) without changing the parent's state of the device. Uses async-signal-safe calls only. The only call
  /// that follows is the destructor.
  virtual void abandon_after_fork() noexcept = 0;

 protected:
  std::uint64_t page_address_ = 0;
  std::size_t page_bytes_ = 0;
  std::string device_;
  PinCost cost_;
};

/// Rounds the `size_bytes` of a map call up to host pages. EINVAL: 0, or more than is pinned. EIO: `mapped`, an earlier
/// mapping, still exists.
[[nodiscard]] base::Result<std::size_t> length_to_map(const BackendPin& pin, std::size_t size_bytes,
                                                      const void* mapped) noexcept;

/// Excludes a new mapping from forked children, which would keep it after our unmap. Core delays forks until then.
[[nodiscard]] base::Status keep_from_children(driver::System& system, void* mapping, std::size_t size_bytes) noexcept;

/// Device memory that the backend allocated, for callers without CUDA code. Not thread safe: core serializes the calls
/// on a buffer, but calls on different buffers of one backend run in parallel. The destructor frees the memory if
/// necessary.
class BackendBuffer {
 public:
  virtual ~BackendBuffer() = default;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }  ///< device address
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

  /// Copies with the driver, not through a mapping; the copy is complete on return. The caller has checked that
  /// [offset, offset + size_bytes) lies inside the buffer.
  virtual base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept = 0;
  /// Frees the memory, continues after errors, and returns the first one. The buffer is empty afterwards, even on
  /// error. Pins of the memory behave as after every free by an owner (Traits::is_persistent).
  virtual base::Status free() noexcept = 0;
  /// As BackendPin::abandon_after_fork.
  virtual void abandon_after_fork() noexcept = 0;

 protected:
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
};

/// An open backend. Opening does not create a CUDA context and does not keep device memory. Thread safe. Must outlive
/// its pins and buffers.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const Traits& traits() const noexcept = 0;
  /// EINVAL: not device memory, freed, or past its allocation. EOPNOTSUPP: unsupported kind of memory or device.
  /// EACCES: memory of another process. EIO: the verification failed. Also ENOMEM and EMFILE. The text names the cause.
  virtual base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept = 0;
  /// Allocates `size_bytes` (not 0) on the CUDA device with ordinal `device`. The contents are undefined. Unlike
  /// opening and pinning, this initializes CUDA and keeps the device's primary context until the buffer is freed. The
  /// current context of the calling thread does not change. ENODEV: invalid device. ENOMEM.
  virtual base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept = 0;
  /// As BackendPin::abandon_after_fork, for the resources of the backend itself.
  virtual void abandon_after_fork() noexcept = 0;
};

// Each opens its backend. The text of an error names the reason.
#define GDRKIT_BACKEND(name, summary, automatic) \
  base::Result<std::unique_ptr<Backend>> open_##name(const base::Settings& settings) noexcept;
#include "backend/backends.def"
#undef GDRKIT_BACKEND

/// In a forked child: closes the files that the rm backend keeps open for later contexts.
void abandon_rm_after_fork() noexcept;

/// One line of backends.def.
struct Registration {
  const char* name;
  const char* summary;
  bool automatic;  ///< may be selected without a request
  base::Result<std::unique_ptr<Backend>> (*open)(const base::Settings& settings) noexcept;
};

/// All backends in probe order.
[[nodiscard]] std::span<const Registration> registrations() noexcept;

}  // namespace gdrkit::backend
