// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ProcessMemory: the parts of this process's address space that were mapped through the fake driver.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "fakes/rm_state.hpp"
#include "fakes/violations.hpp"

namespace gdrkit::fakes {

/// Makes real mappings and records them. Returns 0 or negative errno, as driver::System does. Not thread safe.
class ProcessMemory {
 public:
  explicit ProcessMemory(Violations& violations) noexcept : violations_(violations) {}
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  int map_anonymous(void* hint, std::size_t length, int protection, int flags, void** mapped);
  /// `file` is the mapped content; `mapping` counts as mapped until the last of its pages is unmapped.
  int map_device(void* hint, std::size_t length, int protection, int flags, int file, off_t offset,
                 const std::shared_ptr<RmMapping>& mapping, void** mapped);
  int unmap(void* address, std::size_t length);
  int advise(void* address, std::size_t length, int advice);

  /// Returns whether one mapping contains all of these bytes of `memory`. (A pin's pages may contain a part of a
  /// neighbour's.)
  [[nodiscard]] bool shows(const PhysicalMemory& memory, std::uint64_t offset, std::uint64_t size) const;
  [[nodiscard]] std::size_t count() const noexcept { return parts_.size(); }
  [[nodiscard]] std::size_t inherited_by_fork() const;

 private:
  struct Part {
    std::size_t length = 0;
    std::shared_ptr<RmMapping> mapping;  ///< null: anonymous
    bool is_kept_from_fork = false;
  };
  int add(void* hint, std::size_t length, int protection, int flags, int file, off_t offset, Part part, void** mapped);
  void forget(std::uintptr_t first, std::size_t length);

  Violations& violations_;
  std::map<std::uintptr_t, Part> parts_;
};

}  // namespace gdrkit::fakes
