// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Values over two indices: x across, y down, each cell shaded by its value.
#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

/// Cells of a larger matrix would be too small to read; its figures are listed instead.
constexpr std::size_t most_cells = 4096;

std::vector<double> values_of(const measure::Series& series,
                              const std::function<double(const measure::Point&)>& index) {
  std::vector<double> values;
  for (const measure::Point& point : series.points) values.push_back(index(point));
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::size_t place_in(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin());
}

double x_of(const measure::Point& point) { return point.x; }
double y_of(const measure::Point& point) { return point.y.value_or(0); }

/// Which of the two indices is horizontal: x, unless the series calls it the row.
struct Sides {
  double (*across)(const measure::Point& point);
  double (*down)(const measure::Point& point);
  std::string across_name;
  std::string down_name;
};

Sides sides_of(const measure::Series& series) {
  if (series.x_name == "row") return {y_of, x_of, series.y_name, series.x_name};
  return {x_of, y_of, series.x_name, series.y_name};
}

Range range_of(const measure::Series& series) {
  Range range{series.points.front().value, series.points.front().value};
  for (const measure::Point& point : series.points) {
    range = {std::min(range.low, point.value), std::max(range.high, point.value)};
  }
  return range;
}

/// Light to dark over the range; values that hardly differ must look alike.
double shade_of(double value, const Range& range) {
  constexpr double alike = 0.05;
  const double width = range.high / 2 - range.low / 2;
  const double magnitude = std::max(std::abs(range.high), std::abs(range.low)) / 2;
  if (width <= magnitude * alike) return 0.3;
  return (value / 2 - range.low / 2) / width;
}

std::string caption_of(const measure::Series& series) {
  std::string text = conditions_text(series);
  if (!series.direction.empty()) text = in_words(series.direction) + (text.empty() ? "" : ", ") + text;
  if (!series.method.empty()) text = in_words(series.method) + (text.empty() ? "" : ", ") + text;
  return text + (text.empty() ? "" : ". ") + "Values in " + series.unit + ", " +
         (series.is_lower_better ? "lower is better" : "higher is better") + "; darker is higher.";
}

Matrix matrix_of(const measure::Series& series) {
  Matrix matrix;
  // Ids are names that users of other tools search for; titles may be equal.
  matrix.heading = series.title.empty() || series.title == series.id ? series.id : series.id + ": " + series.title;
  matrix.caption = caption_of(series);
  const Sides sides = sides_of(series);
  matrix.x_name = in_words(sides.across_name);
  matrix.y_name = in_words(sides.down_name);
  const std::vector<double> columns = values_of(series, sides.across);
  const std::vector<double> rows = values_of(series, sides.down);
  for (const double value : columns) matrix.columns.push_back(written(value, quantity_of_x(sides.across_name)));
  for (const double value : rows) matrix.rows.push_back(written(value, quantity_of_x(sides.down_name)));
  matrix.cells.assign(rows.size(), std::vector<Matrix::Cell>(columns.size(), {"–", std::nullopt}));
  const Range range = range_of(series);
  for (const measure::Point& point : series.points) {
    Matrix::Cell& cell = matrix.cells[place_in(rows, sides.down(point))][place_in(columns, sides.across(point))];
    // Two values for one place: both are shown.
    cell.text = (cell.shade ? cell.text + "; " : "") + three_digits(point.value);
    cell.shade = shade_of(point.value, range);
  }
  return matrix;
}

Table rows_of(const measure::Series& series) {
  Table table;
  table.head = {in_words(series.x_name), in_words(series.y_name), "median", "noise", "minimum", "rounds"};
  for (const measure::Point& point : series.points) {
    table.rows.push_back({written(point.x, quantity_of_x(series.x_name)),
                          point.y ? written(*point.y, quantity_of_x(series.y_name)) : "none",
                          value_text(series, point.value),
                          point.rounds.size() > 1 ? written_noise(point.noise) : "unknown",
                          value_text(series, point.minimum), std::to_string(point.rounds.size())});
  }
  return table;
}

Block block_of_matrix(const measure::Series& series) {
  if (series.points.empty()) return Paragraph{name_of(series) + " has no points."};
  Table rows = rows_of(series);
  const std::size_t cells = values_of(series, x_of).size() * values_of(series, y_of).size();
  if (cells > most_cells) {
    rows.caption = name_of(series) + ". " + caption_of(series);
    return rows;
  }
  Matrix matrix = matrix_of(series);
  matrix.table = std::move(rows);
  return matrix;
}

/// Small consecutive matrices are placed side by side.
void add_block(Block block, Section* section) {
  constexpr std::size_t few_columns = 4;
  const auto* matrix = std::get_if<Matrix>(&block);
  if (matrix == nullptr || matrix->columns.size() > few_columns) {
    section->blocks.push_back(std::move(block));
    return;
  }
  auto* row = section->blocks.empty() ? nullptr : std::get_if<MatrixRow>(&section->blocks.back());
  if (row == nullptr) {
    section->blocks.emplace_back(MatrixRow{});
    row = &std::get<MatrixRow>(section->blocks.back());
  }
  row->matrices.push_back(*matrix);
}

}  // namespace

void add_matrices(Source* source, Chapter* chapter) {
  Section section{"Matrices", {}};
  for (Picture& picture : source->pictures) {
    if (picture.is_shown || !picture.is_matrix()) continue;
    picture.is_shown = true;
    for (const measure::Series* series : picture.series) add_block(block_of_matrix(*series), &section);
  }
  if (!section.blocks.empty()) chapter->sections.push_back(std::move(section));
}

}  // namespace gdrkit::measure::report
