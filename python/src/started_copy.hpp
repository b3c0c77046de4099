// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <gdrkit/gdrkit.hpp>
#include <optional>

#include "mapping.hpp"

namespace gdrkit_python {

/// gdrkit.Copy: a started copy. It keeps its mapping open and the host memory in place until it is finished.
class Copy {
 public:
  enum class Direction { write, read };

  Copy(nanobind::object mapping, nanobind::handle segments, Direction direction);
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  /// Finishes, and ignores the error.
  ~Copy();

  [[nodiscard]] bool is_done() const;
  void finish();
  [[nodiscard]] nanobind::handle mapping() const noexcept { return mapping_; }

 private:
  void drop(bool keeps_memory);

  nanobind::object mapping_;
  std::optional<Segments> segments_;
  std::optional<gdrkit::StartedCopy> copy_;
  bool is_finishing_ = false;
};

void bind_copy(nanobind::module_& module);

}  // namespace gdrkit_python
