// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Picture: the series of a document that one chart can show together.
#pragma once

#include <string>
#include <vector>

#include "measure/report/page.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::report {

struct Picture {
  std::vector<const measure::Series*> series;  ///< at least one; the same group, x, quantity and direction of "better"
  bool is_shown = false;                       ///< a section already shows it
  bool is_reference = false;                   ///< one series of another operation, for comparison: never a curve

  [[nodiscard]] const measure::Series& first() const { return *series.front(); }
  [[nodiscard]] bool is_matrix() const { return !first().y_name.empty(); }
  [[nodiscard]] Quantity quantity() const { return unit_of(first().unit).quantity; }
  [[nodiscard]] Quantity x_quantity() const { return quantity_of_x(first().x_name); }
};

/// A document with its series grouped into pictures. Each series is in exactly one.
struct Source {
  const measure::Result* result;
  std::vector<Picture> pictures;
};

/// Keeps the document's order. A picture has at most as many series as a chart supports; a matrix is a separate
/// picture.
[[nodiscard]] Source source_of(const measure::Result& result);

/// A unique name for each series of the picture.
[[nodiscard]] std::vector<std::string> labels_of(const Picture& picture);
/// A heading from the common properties of its series.
[[nodiscard]] std::string heading_of(const Picture& picture);
/// "threads 4, GPU busy"; "" without conditions.
[[nodiscard]] std::string conditions_text(const measure::Series& series);
/// Whether all series have the same conditions, which the heading then contains.
[[nodiscard]] bool are_conditions_shared(const Picture& picture);
/// The conditions that the label does not contain.
[[nodiscard]] std::string conditions_outside_label(const measure::Series& series, std::string label);
/// "to the device" for "to_device"; other words lose their underscores.
[[nodiscard]] std::string in_words(const std::string& name);
/// The title, or the id if there is none.
[[nodiscard]] const std::string& name_of(const measure::Series& series);

/// The picture as lines over x; the caption lists what is not drawn, and conditions that the legend does not contain.
[[nodiscard]] Figure figure_of(const Picture& picture, const std::string& heading);
/// All figures of the picture: a row per x, a column per series.
[[nodiscard]] Table table_of(const Picture& picture);
/// All values of each point, one row per point: for pictures without a curve.
[[nodiscard]] Table list_of(const Picture& picture);
/// One row per series, one column per x: for few points.
[[nodiscard]] Table table_by_series(const Picture& picture);
/// A chart if a series has three points that can be drawn, otherwise a table.
[[nodiscard]] Block block_of(const Picture& picture, const std::string& heading);
/// A value with `unit` of the schema: "139 ns", "26.1 GB/s", "12 hops".
[[nodiscard]] std::string value_text(const measure::Series& series, double value);

}  // namespace gdrkit::measure::report
