// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The contract of a backend: how device memory is pinned and mapped into the CPU's address space.
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

/// How the backend made sure that a mapping shows the requested memory.
enum class Verification : std::uint8_t {
  none = 0,        ///< not verified by content: the interface guarantees it (emulated, a device address)
  content = 1,     ///< the memory's own content was compared with a read by CUDA
  structural = 2,  ///< content was trivial: object size, address space and device agree
  calibrated = 3,  ///< structural, and the way to the memory was proved on scratch memory of this device
};

struct PinRequest {
  std::uint64_t address = 0;   ///< the user's own first byte, any alignment, not 0
  std::size_t size_bytes = 0;  ///< the user's own size, not 0; address + size_bytes does not overflow
  bool force_pcie = false;     ///< only set when traits().supports_force_pcie
  /// true: the range must lie inside its allocation. false (drop-in face, whose callers round to a GPU's pages): inside
  /// its allocation rounded out to 64 KiB.
  bool exact_range = true;
};

struct Traits {
  const char* name = "";
  std::uint32_t page_size_bytes = 65536;  ///< a power of two, at least the host's page
  /// The memory stays readable through the mapping after its owner freed it, unless that is the device address itself.
  bool is_persistent = true;
  bool supports_force_pcie = false;
  bool uses_dmabuf_mmap = false;
  std::uint32_t module_version =
      0;                     ///< of the kernel module behind it, major << 16 | minor; 0: there is none of its own
  bool is_emulated = false;  ///< its memory is the emulated device's, not CUDA's
  /// Whether it can map at all could not be tried when it was opened: the automatic choice prefers one that is sure.
  bool is_untried = false;
};

struct MappedRegion {
  void* address = nullptr;  ///< CPU address of the first byte of the first pinned page that is mapped
  std::size_t size_bytes = 0;
  MappingType type = MappingType::none;
  Verification verification = Verification::none;
};

/// What pinning took, where a kernel module measured it; 0 elsewhere.
struct PinCost {
  std::uint64_t cycles = 0;  ///< of the time stamp counter
  std::uint32_t cycles_per_ms = 0;
};

/// One pinned range: the enclosing pages of a request. Not thread safe: core serialises all calls on one pin, but calls
/// on different pins of one backend run in parallel. Destruction unmaps and unpins what is left.
class BackendPin {
 public:
  virtual ~BackendPin() = default;

  [[nodiscard]] std::uint64_t page_address() const noexcept { return page_address_; }  ///< device address, page aligned
  [[nodiscard]] std::size_t page_bytes() const noexcept { return page_bytes_; }        ///< multiple of the page size
  [[nodiscard]] const std::string& device() const noexcept { return device_; }         ///< PCI address "0000:3b:00.0"
  [[nodiscard]] PinCost cost() const noexcept { return cost_; }

  /// Maps the first `size_bytes` (rounded up to the host's page, not more than page_bytes()) of the pinned pages,
  /// readable and writable, not inherited by fork. At most one mapping at a time (core guarantees it). EOPNOTSUPP if
  /// `requested` (none = the backend's choice) is impossible, ENOMEM if the aperture is used up.
  virtual base::Result<MappedRegion> map(std::size_t size_bytes, MappingType requested) noexcept = 0;
  /// Undoes map; runs to its end and returns the first error. No access through the region is possible afterwards,
  /// unless it was the device address itself, which belongs to CUDA.
  virtual base::Status unmap() noexcept = 0;
  /// Unmaps if need be and gives the memory back; runs to its end and returns the first error.
  virtual base::Status unpin() noexcept = 0;
  /// true once the owner freed the memory and the backend noticed (persistent backends: only where the mapping is the
  /// device address itself).
  [[nodiscard]] virtual bool is_invalidated() const noexcept { return false; }
  /// In a forked child, single-threaded, inside the atfork handler: give up what was inherited (close file
  /// descriptors) without touching the parent's state at the device. Async-signal-safe calls only. Afterwards only
  /// destruction follows.
  virtual void abandon_after_fork() noexcept = 0;

 protected:
  std::uint64_t page_address_ = 0;
  std::size_t page_bytes_ = 0;
  std::string device_;
  PinCost cost_;
};

/// `size_bytes` rounded up to the host's page: what a map call maps. EINVAL for nothing or more than is pinned, EIO
/// while `mapped`, an earlier mapping, is still there.
[[nodiscard]] base::Result<std::size_t> length_to_map(const BackendPin& pin, std::size_t size_bytes,
                                                      const void* mapped) noexcept;

/// Takes a fresh mapping away from forked children, who would keep it beyond our unmap. Core holds fork off meanwhile.
[[nodiscard]] base::Status keep_from_children(driver::System& system, void* mapping, std::size_t size_bytes) noexcept;

/// Device memory that the backend allocated, for callers without CUDA code of their own. Not thread safe: core
/// serialises all calls on one buffer, but calls on different buffers of one backend run in parallel. Destruction frees
/// what is left.
class BackendBuffer {
 public:
  virtual ~BackendBuffer() = default;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }  ///< device address
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

  /// Copies by the driver, not through a mapping: when one returns, the bytes are where they belong. The caller has
  /// checked that [offset, offset + size_bytes) lies inside the buffer.
  virtual base::Status copy_from_host(std::size_t offset, const void* source, std::size_t size_bytes) noexcept = 0;
  virtual base::Status copy_to_host(std::size_t offset, void* target, std::size_t size_bytes) noexcept = 0;
  /// Frees now; runs to its end and returns the first error. The buffer is empty afterwards in every case. Pins
  /// of the memory live on as if any other owner had freed it (Traits::is_persistent).
  virtual base::Status free() noexcept = 0;
  /// As BackendPin::abandon_after_fork.
  virtual void abandon_after_fork() noexcept = 0;

 protected:
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
};

/// A usable way to device memory. Opening one creates no CUDA context, and keeps no memory of a device.
/// Thread safe. Outlives its pins and its buffers.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const Traits& traits() const noexcept = 0;
  /// Refuses with EINVAL (not device memory, freed, past its allocation), EOPNOTSUPP (a kind of memory or device this
  /// backend cannot serve), ENOMEM, EACCES (another process's), EMFILE, EIO (verification failed); the error's
  /// text names why.
  virtual base::Result<std::unique_ptr<BackendPin>> pin(const PinRequest& request) noexcept = 0;
  /// Allocates `size_bytes` (not 0; what they hold is not defined) on device number `device`, counted as CUDA counts.
  /// Unlike opening and pinning, this initialises CUDA and keeps the device's primary context until the buffer is
  /// freed; the calling thread's current context stays as it was. ENODEV: no such device. ENOMEM.
  virtual base::Result<std::unique_ptr<BackendBuffer>> allocate(int device, std::size_t size_bytes) noexcept = 0;
  /// As BackendPin::abandon_after_fork, for what the backend holds.
  virtual void abandon_after_fork() noexcept = 0;
};

// Each opens its backend, or returns an error with the reason why it cannot run here.
#define GDRKIT_BACKEND(name, summary, automatic) \
  base::Result<std::unique_ptr<Backend>> open_##name(const base::Settings& settings) noexcept;
#include "backend/backends.def"
#undef GDRKIT_BACKEND

/// One line of backends.def.
struct Registration {
  const char* name;
  const char* summary;
  bool automatic;  ///< may be chosen when none is named
  base::Result<std::unique_ptr<Backend>> (*open)(const base::Settings& settings) noexcept;
};

/// All backends in probe order.
[[nodiscard]] std::span<const Registration> registrations() noexcept;

}  // namespace gdrkit::backend
