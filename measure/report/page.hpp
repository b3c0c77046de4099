// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Page: the contents of a report as plain data. Texts are as in the documents; html/ and chart/ escape them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "measure/report/numbers.hpp"

namespace gdrkit::measure::report {

/// The first column names its row.
struct Table {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  bool is_folded = false;  ///< shown only when the reader unfolds it
};

struct Axis {
  std::string label;
  Quantity quantity = Quantity::plain;
  bool is_log = false;
  bool is_whole = false;  ///< a count: ticks at integers only
};

/// One point of a curve with its uncertainty, in the units of the axes.
struct Mark {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

struct Curve {
  std::string label;
  std::size_t style = 0;  ///< colour, dash and shape of the marks
  std::vector<Mark> marks;
};

struct Range {
  double low = 0;
  double high = 0;
};

/// Lines over x. The chart's renderer omits marks that a logarithmic axis cannot show.
struct LineChart {
  std::string title;        ///< alternative text, like `description`
  std::string description;  ///< contents of the chart, a sentence
  Axis x;
  Axis y;
  std::vector<Curve> curves;
  std::optional<double> reference;  ///< a horizontal line at this y
  std::vector<Mark> band;           ///< shaded from low to high, behind the curves
  std::optional<Range> y_range;     ///< common to charts that are side by side
};

/// A chart, and all of its figures in a table that can be unfolded.
struct Figure {
  std::string heading;
  std::string caption;
  LineChart chart;
  Table table;
};

/// Charts side by side, small.
struct FigureRow {
  std::string heading;
  std::vector<Figure> figures;
};

/// Numbers over two indices, each cell shaded by its value.
struct Matrix {
  std::string heading;
  std::string caption;
  std::string x_name;
  std::string y_name;
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  struct Cell {
    std::string text;
    std::optional<double> shade;  ///< 0 to 1; none: nothing was measured
  };
  std::vector<std::vector<Cell>> cells;  ///< by row
  Table table;
};

/// Matrices side by side, small.
struct MatrixRow {
  std::vector<Matrix> matrices;
};

struct Paragraph {
  std::string text;
  bool is_warning = false;
};

struct Sentences {
  std::string heading;
  std::vector<std::string> items;
};

struct Tile {
  std::string label;
  std::string value;
  std::string note;
};

struct Tiles {
  std::vector<Tile> tiles;
};

/// Names and their values.
struct Facts {
  std::vector<std::pair<std::string, std::string>> facts;
};

using Block = std::variant<Paragraph, Sentences, Tiles, Facts, Table, Figure, FigureRow, Matrix, MatrixRow>;

struct Section {
  std::string heading;
  std::vector<Block> blocks;
};

/// One document, or a comparison.
struct Chapter {
  std::string heading;
  std::string summary;
  std::vector<std::string> warnings;
  std::vector<Section> sections;
};

struct Page {
  std::string title;
  std::string summary;
  std::vector<Chapter> chapters;
};

/// Writes to the destination of --json: {"schema": "gdrkit.report/1", "title", "summary", "chapters": [{"heading",
/// "summary", "warnings", "sections": [{"heading", "blocks"}]}]}. A block has a "kind" and the contents of that kind.
/// Values in tables are text as on the page; points of charts are numbers in the units of their axes.
void write_page_json(const cli::DocumentOption& option, const Page& page);

/// One HTML document that is also well-formed XML and refers to nothing outside itself.
[[nodiscard]] std::string page_html(const Page& page);

/// The contents of the page's <style>.
extern const char* const style_sheet;

}  // namespace gdrkit::measure::report
