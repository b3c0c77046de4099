// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <gdrkit/gdrkit.hpp>
#include <optional>
#include <string>

namespace gdrkit_python {

/// gdrkit.Context. It counts the uses of its mappings: memoryviews, copies and calls in progress.
class Context {
 public:
  Context(const std::optional<std::string>& backend, const std::optional<std::string>& copy_kernel);

  /// Throws a Python ValueError once it is closed.
  [[nodiscard]] const gdrkit::Context& get() const;
  /// Unmaps, unpins and frees what was made from it. Throws a Python BufferError while something is in use.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return !context_.has_value(); }
  void begin_use() noexcept { ++uses_; }
  void end_use() noexcept { --uses_; }

 private:
  std::optional<gdrkit::Context> context_;
  std::size_t uses_ = 0;
};

/// gdrkit.Buffer: device memory of the library's own.
class Buffer {
 public:
  Buffer(nanobind::object context, std::size_t size_bytes, int device);

  [[nodiscard]] std::uint64_t device_address() const { return get().device_address(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] int device() const { return get().device(); }
  [[nodiscard]] bool is_emulated() const noexcept { return is_emulated_; }
  [[nodiscard]] nanobind::bytes copy_to_host(long long offset, std::size_t size_bytes) const;
  void copy_from_host(long long offset, nanobind::handle source);
  void free();
  [[nodiscard]] bool is_freed() const noexcept { return !buffer_.has_value(); }
  /// As a DLPack object: of a CUDA device, or of the CPU on the emulated device, whose memory is the CPU's.
  [[nodiscard]] nanobind::object array(nanobind::handle self) const;
  [[nodiscard]] nanobind::handle context() const noexcept { return context_; }

 private:
  [[nodiscard]] const gdrkit::Buffer& get() const;

  nanobind::object context_;  // outlives the buffer
  std::optional<gdrkit::Buffer> buffer_;
  bool is_emulated_ = false;
};

/// An offset as Python gives it: throws a Python ValueError where it is negative.
[[nodiscard]] std::size_t offset_of(long long offset);

void bind_context(nanobind::module_& module);

}  // namespace gdrkit_python
