// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyScene: copies under some conditions, as cells: one direction and size each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/bench/measure/copy_station.hpp"

namespace gdrkit::measure::bench {

/// Work beside the measured copies, from its making to its end. Making throws CannotMeasure.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// Whether it went on all the time; a sentence if not.
  [[nodiscard]] virtual std::string complaint() const { return ""; }
};

struct CopyScene {
  std::string section;    ///< begins the series' ids
  std::string title_end;  ///< ", beside a busy bus"
  std::map<std::string, std::string> conditions;
  std::vector<const CopyMethod*> methods;
  std::function<std::unique_ptr<Disturbance>()> disturb;  ///< empty: nothing beside
};

/// The cells of a section with a disturbance: a few sizes, both directions, the mapping beside the raw loop and the
/// driver's asynchronous copy. Sets the scene's methods.
[[nodiscard]] std::vector<Cell> busy_cells(Session* session, CopyScene scene);

[[nodiscard]] Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes);

}  // namespace gdrkit::measure::bench
