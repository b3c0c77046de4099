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
  bool is_shown = false;                       ///< a section has taken it
  bool is_reference = false;                   ///< one series of another operation, for comparison: never a curve

  [[nodiscard]] const measure::Series& first() const { return *series.front(); }
  [[nodiscard]] bool is_matrix() const { return !first().y_name.empty(); }
  [[nodiscard]] Quantity quantity() const { return unit_of(first().unit).quantity; }
  [[nodiscard]] Quantity x_quantity() const { return quantity_of_x(first().x_name); }
};

/// A document with its series sorted into pictures. Each series is in exactly one.
struct Source {
  const measure::Result* result;
  std::vector<Picture> pictures;
};

/// Keeps the document's order. A picture holds at most as many series as can be told apart; a matrix is one by itself.
[[nodiscard]] Source source_of(const measure::Result& result);

/// A name for each series of the picture, none twice.
[[nodiscard]] std::vector<std::string> labels_of(const Picture& picture);
/// A heading from what its series have in common.
[[nodiscard]] std::string heading_of(const Picture& picture);
/// "threads 4, GPU busy"; "" without conditions.
[[nodiscard]] std::string conditions_text(const measure::Series& series);
/// Whether all series have the same conditions, which the heading then names.
[[nodiscard]] bool are_conditions_shared(const Picture& picture);
/// The conditions that the label does not name.
[[nodiscard]] std::string untold_conditions(const measure::Series& series, std::string label);
/// "to the device" of "to_device"; other words lose their underscores.
[[nodiscard]] std::string in_words(const std::string& name);
/// A title for people, or the id when there is none.
[[nodiscard]] const std::string& name_of(const measure::Series& series);

/// The picture as lines over x; the caption names what is not drawn, and conditions that the legend does not name.
[[nodiscard]] Figure figure_of(const Picture& picture, const std::string& heading);
/// All figures of the picture: a row an x, a column a series.
[[nodiscard]] Table table_of(const Picture& picture);
/// All that is known of each point, a row a point: for pictures without a curve.
[[nodiscard]] Table list_of(const Picture& picture);
/// One row per series, one column per x: for few points.
[[nodiscard]] Table table_by_series(const Picture& picture);
/// A chart if a series has three points that can be drawn, else a table.
[[nodiscard]] Block block_of(const Picture& picture, const std::string& heading);
/// `unit` of the schema with its value: "139 ns", "26.1 GB/s", "12 hops".
[[nodiscard]] std::string value_text(const measure::Series& series, double value);

}  // namespace gdrkit::measure::report
