// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/page.hpp"

#include "cli/interface/json_document.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::measure::report {
namespace {

cli::Json table_json(const Table& table) {
  return {{"caption", table.caption}, {"head", table.head}, {"rows", table.rows}};
}

cli::Json mark_json(const Mark& mark) { return {{"x", mark.x}, {"y", mark.y}, {"low", mark.low}, {"high", mark.high}}; }

cli::Json curve_json(const Curve& curve) {
  return {{"label", curve.label}, {"points", cli::json_list(curve.marks, mark_json)}};
}

cli::Json chart_json(const LineChart& chart) {
  return {{"x", chart.x.label}, {"y", chart.y.label}, {"curves", cli::json_list(chart.curves, curve_json)}};
}

cli::Json figure_json(const Figure& figure) {
  return {{"heading", figure.heading},
          {"caption", figure.caption},
          {"chart", chart_json(figure.chart)},
          {"table", table_json(figure.table)}};
}

cli::Json matrix_json(const Matrix& matrix) {
  const auto row_json = [](const auto& row) { return cli::json_list(row, &Matrix::Cell::text); };
  return {{"heading", matrix.heading},
          {"caption", matrix.caption},
          {"x_name", matrix.x_name},
          {"y_name", matrix.y_name},
          {"columns", matrix.columns},
          {"rows", matrix.rows},
          {"cells", cli::json_list(matrix.cells, row_json)}};
}

/// One overload for each kind of block; html/page_html.cpp has the same list.
struct BlockJson {
  cli::Json operator()(const Paragraph& paragraph) const {
    return {{"kind", paragraph.is_warning ? "warning" : "paragraph"}, {"text", paragraph.text}};
  }
  cli::Json operator()(const Sentences& list) const {
    return {{"kind", "list"}, {"heading", list.heading}, {"items", list.items}};
  }
  cli::Json operator()(const Tiles& tiles) const {
    const auto tile_json = [](const Tile& tile) -> cli::Json {
      return {{"label", tile.label}, {"value", tile.value}, {"note", tile.note}};
    };
    return {{"kind", "key_figures"}, {"figures", cli::json_list(tiles.tiles, tile_json)}};
  }
  cli::Json operator()(const Facts& facts) const {
    cli::Json json{{"kind", "facts"}, {"facts", cli::Json::object()}};
    for (const auto& [name, value] : facts.facts) json["facts"][name] = value;
    return json;
  }
  cli::Json operator()(const Table& table) const { return {{"kind", "table"}, {"table", table_json(table)}}; }
  cli::Json operator()(const Figure& figure) const {
    return {{"kind", "charts"}, {"figures", cli::Json::array({figure_json(figure)})}};
  }
  cli::Json operator()(const FigureRow& row) const {
    return {{"kind", "charts"}, {"heading", row.heading}, {"figures", cli::json_list(row.figures, figure_json)}};
  }
  cli::Json operator()(const Matrix& matrix) const {
    return {{"kind", "matrices"}, {"matrices", cli::Json::array({matrix_json(matrix)})}};
  }
  cli::Json operator()(const MatrixRow& row) const {
    return {{"kind", "matrices"}, {"matrices", cli::json_list(row.matrices, matrix_json)}};
  }
};

cli::Json section_json(const Section& section) {
  const auto block_json = [](const Block& block) { return std::visit(BlockJson{}, block); };
  return {{"heading", section.heading}, {"blocks", cli::json_list(section.blocks, block_json)}};
}

cli::Json chapter_json(const Chapter& chapter) {
  return {{"heading", chapter.heading},
          {"summary", chapter.summary},
          {"warnings", chapter.warnings},
          {"sections", cli::json_list(chapter.sections, section_json)}};
}

}  // namespace

void write_page_json(const cli::DocumentOption& option, const Page& page) {
  cli::write_json(option, {{"schema", "gdrkit.report/1"},
                           {"version", gdrkit_version()},
                           {"title", page.title},
                           {"summary", page.summary},
                           {"chapters", cli::json_list(page.chapters, chapter_json)}});
}

}  // namespace gdrkit::measure::report
