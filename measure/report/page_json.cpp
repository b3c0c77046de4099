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

cli::Json chart_json(const LineChart& chart) {
  cli::Json json{{"x", chart.x.label}, {"y", chart.y.label}, {"curves", cli::Json::array()}};
  for (const Curve& curve : chart.curves) {
    cli::Json points = cli::Json::array();
    for (const Mark& mark : curve.marks) {
      points.push_back({{"x", mark.x}, {"y", mark.y}, {"low", mark.low}, {"high", mark.high}});
    }
    json["curves"].push_back({{"label", curve.label}, {"points", std::move(points)}});
  }
  return json;
}

cli::Json figure_json(const Figure& figure) {
  return {{"heading", figure.heading},
          {"caption", figure.caption},
          {"chart", chart_json(figure.chart)},
          {"table", table_json(figure.table)}};
}

cli::Json matrix_json(const Matrix& matrix) {
  cli::Json json{{"heading", matrix.heading},  {"caption", matrix.caption}, {"x_name", matrix.x_name},
                 {"y_name", matrix.y_name},    {"columns", matrix.columns}, {"rows", matrix.rows},
                 {"cells", cli::Json::array()}};
  for (const auto& row : matrix.cells) {
    cli::Json cells = cli::Json::array();
    for (const Matrix::Cell& cell : row) cells.push_back(cell.text);
    json["cells"].push_back(std::move(cells));
  }
  return json;
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
    cli::Json json{{"kind", "key_figures"}, {"figures", cli::Json::array()}};
    for (const Tile& tile : tiles.tiles) {
      json["figures"].push_back({{"label", tile.label}, {"value", tile.value}, {"note", tile.note}});
    }
    return json;
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
    cli::Json json{{"kind", "charts"}, {"heading", row.heading}, {"figures", cli::Json::array()}};
    for (const Figure& figure : row.figures) json["figures"].push_back(figure_json(figure));
    return json;
  }
  cli::Json operator()(const Matrix& matrix) const {
    return {{"kind", "matrices"}, {"matrices", cli::Json::array({matrix_json(matrix)})}};
  }
  cli::Json operator()(const MatrixRow& row) const {
    cli::Json json{{"kind", "matrices"}, {"matrices", cli::Json::array()}};
    for (const Matrix& matrix : row.matrices) json["matrices"].push_back(matrix_json(matrix));
    return json;
  }
};

cli::Json chapter_json(const Chapter& chapter) {
  cli::Json json{{"heading", chapter.heading}, {"summary", chapter.summary}, {"warnings", chapter.warnings}};
  json["sections"] = cli::Json::array();
  for (const Section& section : chapter.sections) {
    cli::Json blocks = cli::Json::array();
    for (const Block& block : section.blocks) blocks.push_back(std::visit(BlockJson{}, block));
    json["sections"].push_back({{"heading", section.heading}, {"blocks", std::move(blocks)}});
  }
  return json;
}

}  // namespace

void write_page_json(const cli::DocumentOption& option, const Page& page) {
  cli::Json document{
      {"schema", "gdrkit.report/1"}, {"version", gdrkit_version()}, {"title", page.title}, {"summary", page.summary}};
  document["chapters"] = cli::Json::array();
  for (const Chapter& chapter : page.chapters) document["chapters"].push_back(chapter_json(chapter));
  cli::write_json(option, document);
}

}  // namespace gdrkit::measure::report
