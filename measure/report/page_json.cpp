// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/page_json.hpp"

#include "cli/common/json_document.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools::report {
namespace {

Json table_json(const Table& table) { return {{"caption", table.caption}, {"head", table.head}, {"rows", table.rows}}; }

Json chart_json(const LineChart& chart) {
  Json json{{"x", chart.x.label}, {"y", chart.y.label}, {"curves", Json::array()}};
  for (const Curve& curve : chart.curves) {
    Json points = Json::array();
    for (const Mark& mark : curve.marks) {
      points.push_back({{"x", mark.x}, {"y", mark.y}, {"low", mark.low}, {"high", mark.high}});
    }
    json["curves"].push_back({{"label", curve.label}, {"points", std::move(points)}});
  }
  return json;
}

Json figure_json(const Figure& figure) {
  return {{"heading", figure.heading},
          {"caption", figure.caption},
          {"chart", chart_json(figure.chart)},
          {"table", table_json(figure.table)}};
}

Json matrix_json(const Matrix& matrix) {
  Json json{{"heading", matrix.heading}, {"caption", matrix.caption}, {"x_name", matrix.x_name},
            {"y_name", matrix.y_name},   {"columns", matrix.columns}, {"rows", matrix.rows},
            {"cells", Json::array()}};
  for (const auto& row : matrix.cells) {
    Json cells = Json::array();
    for (const Matrix::Cell& cell : row) cells.push_back(cell.text);
    json["cells"].push_back(std::move(cells));
  }
  return json;
}

/// One overload for each kind of block; html/page_html.cpp has the same list.
struct BlockJson {
  Json operator()(const Paragraph& paragraph) const {
    return {{"kind", paragraph.is_warning ? "warning" : "paragraph"}, {"text", paragraph.text}};
  }
  Json operator()(const Sentences& list) const {
    return {{"kind", "list"}, {"heading", list.heading}, {"items", list.items}};
  }
  Json operator()(const Tiles& tiles) const {
    Json json{{"kind", "key_figures"}, {"figures", Json::array()}};
    for (const Tile& tile : tiles.tiles) {
      json["figures"].push_back({{"label", tile.label}, {"value", tile.value}, {"note", tile.note}});
    }
    return json;
  }
  Json operator()(const Facts& facts) const {
    Json json{{"kind", "facts"}, {"facts", Json::object()}};
    for (const auto& [name, value] : facts.facts) json["facts"][name] = value;
    return json;
  }
  Json operator()(const Table& table) const { return {{"kind", "table"}, {"table", table_json(table)}}; }
  Json operator()(const Figure& figure) const {
    return {{"kind", "charts"}, {"figures", Json::array({figure_json(figure)})}};
  }
  Json operator()(const FigureRow& row) const {
    Json json{{"kind", "charts"}, {"heading", row.heading}, {"figures", Json::array()}};
    for (const Figure& figure : row.figures) json["figures"].push_back(figure_json(figure));
    return json;
  }
  Json operator()(const Matrix& matrix) const {
    return {{"kind", "matrices"}, {"matrices", Json::array({matrix_json(matrix)})}};
  }
  Json operator()(const MatrixRow& row) const {
    Json json{{"kind", "matrices"}, {"matrices", Json::array()}};
    for (const Matrix& matrix : row.matrices) json["matrices"].push_back(matrix_json(matrix));
    return json;
  }
};

Json chapter_json(const Chapter& chapter) {
  Json json{{"heading", chapter.heading}, {"summary", chapter.summary}, {"warnings", chapter.warnings}};
  json["sections"] = Json::array();
  for (const Section& section : chapter.sections) {
    Json blocks = Json::array();
    for (const Block& block : section.blocks) blocks.push_back(std::visit(BlockJson{}, block));
    json["sections"].push_back({{"heading", section.heading}, {"blocks", std::move(blocks)}});
  }
  return json;
}

}  // namespace

void write_page_json(const DocumentOption& option, const Page& page) {
  Json document{
      {"schema", "gdrkit.report/1"}, {"version", gdrkit_version()}, {"title", page.title}, {"summary", page.summary}};
  document["chapters"] = Json::array();
  for (const Chapter& chapter : page.chapters) document["chapters"].push_back(chapter_json(chapter));
  write_json(option, document);
}

}  // namespace gdrkit::tools::report
