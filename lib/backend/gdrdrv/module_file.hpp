// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ModuleFile: an open /dev/gdrdrv, the version of the module, and the calls of the module on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

inline constexpr const char* node = "/dev/gdrdrv";
inline constexpr std::uint32_t gpu_page_bytes = 65536;

/// The version of the loaded gdrdrv, and which calls it has.
struct ModuleVersion {
  std::uint32_t word = 0;  ///< major << 16 | minor

  [[nodiscard]] constexpr unsigned major_number() const noexcept { return word >> 16; }
  [[nodiscard]] constexpr unsigned minor_number() const noexcept { return word & 0xffff; }
  [[nodiscard]] constexpr bool has_mapping_types() const noexcept { return word >= 0x0002'0004; }  ///< GET_INFO_V2
  /// Attributes, pin flags and requests of a mapping type.
  [[nodiscard]] constexpr bool has_requests() const noexcept { return word >= 0x0002'0005; }
};

/// The module's description of a pin, from its newest info call.
struct PinState {
  std::uint64_t address = 0;
  std::uint64_t mapped_bytes = 0;
  std::uint32_t page_bytes = 0;
  std::uint32_t tsc_khz = 0;  ///< cycles per millisecond; 0 if unknown
  std::uint64_t pin_cycles = 0;
  std::uint32_t mapping_type = 0;  ///< 0: not mapped; unknown numbers are passed on
};

/// Thread safe: every call is one system call. The module releases all pins when the last descriptor and the last
/// mapping of this open are closed.
class ModuleFile {
 public:
  /// The text of an error names the reason.
  static base::Result<std::unique_ptr<ModuleFile>> open(driver::System& system) noexcept;
  ~ModuleFile();
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  [[nodiscard]] ModuleVersion version() const noexcept { return version_; }
  [[nodiscard]] bool is_persistent() const noexcept { return is_persistent_; }
  [[nodiscard]] bool can_force_pcie() const noexcept { return can_force_pcie_; }

  // These calls return 0, or the negative errno of the module.
  int pin(std::uint64_t address, std::uint64_t bytes, bool force_pcie, std::uint64_t* handle) noexcept;
  int unpin(std::uint64_t handle) noexcept;
  int state(std::uint64_t handle, PinState* state) noexcept;
  int is_freed_by_owner(std::uint64_t handle, bool* is_freed) noexcept;
  int request_mapping_type(std::uint64_t handle, std::uint32_t type) noexcept;
  int map(std::uint64_t handle, std::size_t bytes, void** mapped) noexcept;

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  /// In a forked child: closes the inherited descriptor. The parent's stays open.
  void abandon_after_fork() noexcept;

 private:
  ModuleFile(driver::System& system, int fd) noexcept : system_(system), fd_(fd) {}
  base::Status read_version() noexcept;
  int call(unsigned long request, void* argument) noexcept;  ///< 0 or negative errno
  base::Status read_attribute(std::uint32_t attribute, const char* name, bool* value) noexcept;

  driver::System& system_;
  int fd_;
  ModuleVersion version_;
  bool is_persistent_ = false;
  bool can_force_pcie_ = false;
};

/// Stores the mmap offset of a handle: the handle times the host page size. Returns false if it is out of range.
[[nodiscard]] bool offset_of(std::uint64_t handle, std::size_t bytes, std::int64_t* offset) noexcept;

}  // namespace gdrkit::backend::gdrdrv
