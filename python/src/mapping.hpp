// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <gdrkit/gdrkit.hpp>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "flag.hpp"
#include "host_bytes.hpp"

namespace gdrkit_python {

/// gdrkit.Mapping: a pin and its mapping, and the Python object whose memory it is.
///
/// No thread may unmap during a copy. Counting under the GIL enforces this: memoryviews, copies and
/// calls without the GIL are uses, and close() throws a Python BufferError while there are any.
class Mapping {
 public:
  struct Options {
    gdrkit::MapOptions map;
    bool is_readonly = false;
  };
  Mapping(nanobind::object context, std::uint64_t address, std::size_t size_bytes, nanobind::object owner,
          const Options& options);
  ~Mapping();

  void write(long long offset, nanobind::handle data);
  [[nodiscard]] nanobind::bytes read(long long offset, std::size_t size_bytes);
  void read_into(long long offset, nanobind::handle target);
  void store_flag(long long offset, nanobind::handle value, nanobind::handle dtype);
  [[nodiscard]] nanobind::object load_flag(long long offset, nanobind::handle dtype) const;
  [[nodiscard]] nanobind::object wait_flag(long long offset, nanobind::handle value, std::optional<double> timeout,
                                           nanobind::handle dtype, const char* comparison);
  void write_segments(nanobind::handle segments);
  void read_segments(nanobind::handle segments);
  /// Stores through memoryviews have left this CPU core when it returns.
  void flush() const;
  void close();

  [[nodiscard]] bool is_closed() const noexcept { return !map_.has_value() || context().is_closed(); }
  [[nodiscard]] bool is_readonly() const noexcept { return is_readonly_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_bytes_; }
  [[nodiscard]] gdrkit::Mapping& map();  ///< throws a Python ValueError once it is closed
  [[nodiscard]] const gdrkit::Mapping& map() const;
  [[nodiscard]] const gdrkit::Pin& pin() const;
  [[nodiscard]] nanobind::handle owner() const noexcept { return owner_; }
  [[nodiscard]] nanobind::handle context_object() const noexcept { return context_; }

  void begin_use() noexcept;
  void end_use() noexcept;
  void has_view() noexcept { has_views_ = true; }
  void require_writable() const;
  [[nodiscard]] bool has_uses() const noexcept { return uses_ != 0; }
  /// Stores through a memoryview may still sit in this core's write-combining buffers: before a write that announces
  /// them they are pushed out.
  void order_views() const {
    if (has_views_) flush();
  }

 private:
  [[nodiscard]] Context& context() const { return *nanobind::inst_ptr<Context>(context_); }
  void copy_out(std::size_t offset, std::span<std::byte> target);

  nanobind::object context_;  // outlives the pin
  nanobind::object owner_;    // keeps the memory allocated
  std::optional<gdrkit::Pin> pin_;
  std::optional<gdrkit::Mapping> map_;
  std::size_t size_bytes_;
  std::size_t uses_ = 0;
  bool is_readonly_;
  bool has_engine_;
  bool has_views_ = false;
};

/// A use of a mapping for as long as this lives: it stays mapped. With the GIL held at both ends.
class Use {
 public:
  explicit Use(Mapping& mapping) noexcept : mapping_(mapping) { mapping_.begin_use(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() { mapping_.end_use(); }

 private:
  Mapping& mapping_;
};

/// Python's list of (offset, memory) as the C API's segments, with the memory held.
class Segments {
 public:
  Segments(nanobind::handle list, HostBytes::Access access);
  /// Empty unless the memory is held for that access.
  [[nodiscard]] std::span<const gdrkit::WriteSegment> to_write() const noexcept { return to_write_; }
  [[nodiscard]] std::span<const gdrkit::ReadSegment> to_read() const noexcept { return to_read_; }
  void abandon() noexcept;

 private:
  std::vector<HostBytes> memory_;
  std::vector<gdrkit::WriteSegment> to_write_;
  std::vector<gdrkit::ReadSegment> to_read_;
};

void bind_mapping(nanobind::module_& module);

}  // namespace gdrkit_python
