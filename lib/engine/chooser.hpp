// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Table: the fastest engine by direction, kind of host memory and size.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "engine/engine.hpp"

namespace gdrkit::engine {

struct Choice {
  Id warm;  ///< while this one is warm
  Id cold;  ///< while that one is not

  bool operator==(const Choice&) const = default;
};

/// For copies of up to so many bytes.
struct Row {
  std::size_t up_to_bytes = 0;
  Choice choice{};
};

class Table {
 public:
  /// As measured on an H200 and an H100.
  Table() noexcept;
  /// The lines of a profile (docs/tools.md); EINVAL, with the number of the first wrong line, for one that is not
  /// complete and exact.
  [[nodiscard]] static base::Result<Table> parse(const std::string& text) noexcept;

  [[nodiscard]] Choice choose(Direction direction, HostMemory host_memory, std::size_t size_bytes) const noexcept;
  /// Up to this size engine cpu is the fastest for every copy of this direction.
  [[nodiscard]] std::size_t largest_for_cpu(Direction direction) const noexcept {
    return largest_for_cpu_[static_cast<std::size_t>(direction)];
  }
  /// Up to this size only CPU engines are chosen, and the choice is the same for every copy of this direction.
  [[nodiscard]] std::size_t largest_by_cpus(Direction direction) const noexcept {
    return largest_by_cpus_[static_cast<std::size_t>(direction)];
  }

 private:
  /// Of one direction and kind of memory, in the order of their sizes; the last one serves every larger copy.
  using Column = std::array<Row, 32>;

  struct Empty {};
  explicit Table(Empty) noexcept {}
  [[nodiscard]] bool append(Direction direction, HostMemory host_memory, const Row& row) noexcept;
  [[nodiscard]] const Column& column(Direction direction, HostMemory host_memory) const noexcept {
    return columns_[static_cast<std::size_t>(direction)][static_cast<std::size_t>(host_memory)];
  }
  void find_shortcuts() noexcept;
  template <class Condition>
  [[nodiscard]] std::size_t largest_of(Direction direction, Condition is_so) const noexcept;

  std::array<std::size_t, 2> largest_for_cpu_{};
  std::array<std::size_t, 2> largest_by_cpus_{};
  std::array<std::array<Column, 2>, 2> columns_{};
};

}  // namespace gdrkit::engine
