// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommandLines: the ring of command lines in device memory, written by the CPU through its own mapping of it.
#pragma once

#include <cstdint>
#include <memory>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "copy/copier.hpp"
#include "engine/mover/mover_code.hpp"

namespace gdrkit::engine::mover {

/// Not thread safe.
class CommandLines {
 public:
  [[nodiscard]] static base::Result<std::unique_ptr<CommandLines>> make(backend::Backend& backend, int device) noexcept;
  CommandLines(const CommandLines&) = delete;
  CommandLines& operator=(const CommandLines&) = delete;

  [[nodiscard]] std::uint64_t device_address() const noexcept { return buffer_->address(); }
  /// Observers: the GPU kernel's blocks, which read the line until its pieces carry the tag. What this thread stored
  /// before, in host memory or through a mapping, is there when they see the tag: the store fence in front of the line
  /// orders the first, the bus the second. The line has left this CPU core on return.
  void write(std::uint32_t tag, const Command& command) noexcept;

 private:
  CommandLines() = default;
  base::Status map(backend::Backend& backend, int device) noexcept;

  // In this order: the pin, and its mapping with it, ends before the memory.
  std::unique_ptr<backend::BackendBuffer> buffer_;
  std::unique_ptr<backend::BackendPin> pin_;
  Line* lines_ = nullptr;
  copy::Copier copier_;
};

}  // namespace gdrkit::engine::mover
