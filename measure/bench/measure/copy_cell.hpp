// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CopyScene: copies under certain conditions as cells, one per direction and size.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "measure/bench/measure/copy_station.hpp"

namespace gdrkit::measure::bench {

/// Work that disturbs the measured copies during the object's lifetime. The constructor throws CannotMeasure.
class Disturbance {
 public:
  virtual ~Disturbance() = default;
  /// Returns a sentence if the work did not run all the time, otherwise "".
  [[nodiscard]] virtual std::string complaint() const { return ""; }
};

struct CopyScene {
  std::string section;    ///< prefix of the series' ids
  std::string title_end;  ///< ", with a busy bus"
  std::map<std::string, std::string> conditions;
  std::vector<const CopyMethod*> methods;
  std::function<std::unique_ptr<Disturbance>()> disturb;  ///< empty: no disturbance
};

/// The cells of a section with a disturbance: a few sizes, both directions, the mapping, the raw loop and the driver's
/// asynchronous copy. Sets the scene's methods.
[[nodiscard]] std::vector<Cell> busy_cells(Session* session, CopyScene scene);

[[nodiscard]] Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes);

}  // namespace gdrkit::measure::bench
