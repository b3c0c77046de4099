// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ModuleFile: one open of /dev/gdrdrv and the module's calls on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/gdrdrv/gdrdrv_abi.hpp"
#include "backend/gdrdrv/module_version.hpp"
#include "base/result.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::gdrdrv {

/// What the module reports of one pin, by the newest call that it has.
struct PinState {
  std::uint64_t address = 0;
  std::uint64_t mapped_bytes = 0;
  std::uint32_t page_bytes = 0;
  std::uint32_t tsc_khz = 0;  ///< cycles per millisecond; 0 if the module does not report it
  std::uint64_t pin_cycles = 0;
  std::uint32_t mapping_type = 0;  ///< 0: not mapped; unknown numbers are passed on
};

/// Thread safe: every call is one system call. The module frees what is left when the last descriptor and the last
/// mapping of this open are gone.
class ModuleFile {
 public:
  /// The error's text gives the reason why the module cannot be used here.
  static base::Result<std::unique_ptr<ModuleFile>> open(driver::System& system) noexcept;
  ~ModuleFile();
  ModuleFile(const ModuleFile&) = delete;
  ModuleFile& operator=(const ModuleFile&) = delete;

  [[nodiscard]] ModuleVersion version() const noexcept { return version_; }
  [[nodiscard]] bool is_persistent() const noexcept { return is_persistent_; }
  [[nodiscard]] bool can_force_pcie() const noexcept { return can_force_pcie_; }

  // Errors are the module's negative errno, for callers that add the text; 0 is success.
  int pin(std::uint64_t address, std::uint64_t bytes, bool force_pcie, std::uint64_t* handle) noexcept;
  int unpin(std::uint64_t handle) noexcept;
  int state(std::uint64_t handle, PinState* state) noexcept;
  int is_freed_by_owner(std::uint64_t handle, bool* is_freed) noexcept;
  int request_mapping_type(std::uint64_t handle, std::uint32_t type) noexcept;
  int map(std::uint64_t handle, std::size_t bytes, void** mapped) noexcept;

  [[nodiscard]] driver::System& system() noexcept { return system_; }
  /// In a forked child: closes the inherited descriptor; the open stays the parent's.
  void abandon_after_fork() noexcept;

 private:
  ModuleFile(driver::System& system, int fd) noexcept : system_(system), fd_(fd) {}
  base::Status shake_hands() noexcept;
  int call(unsigned long request, void* argument) noexcept;  ///< 0 or negative errno
  base::Status read_attribute(std::uint32_t attribute, const char* name, bool* value) noexcept;

  driver::System& system_;
  int fd_;
  ModuleVersion version_;
  bool is_persistent_ = false;
  bool can_force_pcie_ = false;
};

/// The mmap offset of a handle: its number as a page of the host. false: the handle fits no offset.
[[nodiscard]] bool offset_of(std::uint64_t handle, std::size_t bytes, std::int64_t* offset) noexcept;

}  // namespace gdrkit::backend::gdrdrv
