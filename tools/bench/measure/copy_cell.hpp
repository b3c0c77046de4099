// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyScene: copies under some conditions, as cells: one direction and size each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/measure/copy_station.hpp"

namespace gdrkit::tools {

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
  std::vector<Method> methods;
  std::function<std::unique_ptr<Disturbance>()> disturb;  ///< empty: nothing beside
};

[[nodiscard]] Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes);

}  // namespace gdrkit::tools
