// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/page.hpp"

#include <algorithm>
#include <cmath>

#include "measure/report/chart/line_chart.hpp"
#include "measure/report/chart/style.hpp"
#include "measure/report/markup.hpp"

namespace gdrkit::measure::report {
namespace {

constexpr int shade_count = 9;

std::string element(const char* tag, const std::string& text) {
  return std::string("<") + tag + ">" + escaped(text) + "</" + tag + ">";
}

/// A number and its unit stay on one line.
std::string unbroken(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_behind_digit = at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';
    out += text[at] == ' ' && is_behind_digit ? "\u00a0" : std::string(1, text[at]);
  }
  return escaped(out);
}

std::string unless_empty(const char* tag, const std::string& text) { return text.empty() ? "" : element(tag, text); }

class Writer {
 public:
  std::string write(const Page& page) {
    out_ =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
        "<meta name=\"color-scheme\" content=\"light dark\"/>"
        // Prevents a hostile document from loading or running anything.
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>";
    out_ += element("title", page.title) + "<style>\n" + style_sheet + "</style></head>\n<body>\n<header>";
    out_ += element("h1", page.title) + unless_empty("p", page.summary) + "</header>\n";
    contents(page);
    out_ += "<main>\n";
    for (std::size_t at = 0; at < page.chapters.size(); ++at) chapter(page.chapters[at], at);
    out_ += "</main>\n</body></html>\n";
    return std::move(out_);
  }

  void operator()(const Paragraph& paragraph) {
    out_ += paragraph.is_warning ? "<p class=\"warning\">" : "<p>";
    out_ += unbroken(paragraph.text) + "</p>\n";
  }

  void operator()(const Sentences& sentences) {
    out_ += "<div>" + unless_empty("h4", sentences.heading) + "<ul class=\"sentences\">";
    for (const std::string& item : sentences.items) out_ += "<li>" + unbroken(item) + "</li>";
    out_ += "</ul></div>\n";
  }

  void operator()(const Tiles& tiles) {
    out_ += "<ul class=\"tiles\">\n";
    for (const Tile& tile : tiles.tiles) {
      out_ += "<li><span class=\"label\">" + unbroken(tile.label) + "</span><span class=\"value\">" +
              unbroken(tile.value) + "</span><span class=\"note\">" + unbroken(tile.note) + "</span></li>\n";
    }
    out_ += "</ul>\n";
  }

  void operator()(const Facts& facts) {
    out_ += "<dl>\n";
    for (const auto& [name, value] : facts.facts) {
      out_ += "<div>" + element("dt", name) + element("dd", value.empty() ? "unknown" : value) + "</div>\n";
    }
    out_ += "</dl>\n";
  }

  void operator()(const Table& table) { table.is_folded ? details(table) : write_table(table); }

  void operator()(const Figure& figure) { write_figure(figure, {wide_canvas, narrow_canvas}); }

  void operator()(const FigureRow& row) {
    out_ += unless_empty("h4", row.heading) + "<div class=\"row\">\n";
    for (const Figure& figure : row.figures) write_figure(figure, {narrow_canvas});
    out_ += "</div>\n";
  }

  void operator()(const MatrixRow& row) {
    out_ += "<div class=\"row\">\n";
    for (const Matrix& matrix : row.matrices) (*this)(matrix);
    out_ += "</div>\n";
  }

  void operator()(const Matrix& matrix) {
    out_ += "<figure>" + unless_empty("h4", matrix.heading);
    out_ += "<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\"><thead><tr><th scope=\"col\">" +
            escaped(matrix.y_name + " \\ " + matrix.x_name) + "</th>";
    for (const std::string& column : matrix.columns) out_ += "<th scope=\"col\">" + escaped(column) + "</th>";
    out_ += "</tr></thead><tbody>\n";
    for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
      out_ += "<tr><th scope=\"row\">" + escaped(matrix.rows[row]) + "</th>";
      for (const Matrix::Cell& cell : matrix.cells[row]) {
        const std::string shade =
            cell.shade ? "s" + std::to_string(std::lround(std::clamp(*cell.shade, 0.0, 1.0) * (shade_count - 1)))
                       : "none";
        out_ += "<td class=\"" + shade + "\">" + escaped(cell.text) + "</td>";
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>" + unless_empty("figcaption", matrix.caption);
    details(matrix.table);
    out_ += "</figure>\n";
  }

 private:
  void contents(const Page& page) {
    out_ += "<nav aria-label=\"Contents\"><ul>\n";
    for (std::size_t at = 0; at < page.chapters.size(); ++at) {
      const std::string name = "c" + std::to_string(at);
      // A single chapter has the page's title.
      out_ += page.chapters.size() == 1
                  ? "<li><ul>"
                  : "<li><a href=\"#" + name + "\">" + escaped(page.chapters[at].heading) + "</a><ul>";
      for (std::size_t number = 0; number < page.chapters[at].sections.size(); ++number) {
        out_ += "<li><a href=\"#" + name + "s" + std::to_string(number) + "\">" +
                escaped(page.chapters[at].sections[number].heading) + "</a></li>";
      }
      out_ += "</ul></li>\n";
    }
    out_ += "</ul></nav>\n";
  }

  void chapter(const Chapter& chapter, std::size_t number) {
    const std::string name = "c" + std::to_string(number);
    out_ +=
        "<article id=\"" + name + "\">" + element("h2", chapter.heading) + unless_empty("p", chapter.summary) + "\n";
    for (const std::string& warning : chapter.warnings) (*this)(Paragraph{warning, true});
    for (std::size_t at = 0; at < chapter.sections.size(); ++at) {
      out_ += "<section id=\"" + name + "s" + std::to_string(at) + "\">" + element("h3", chapter.sections[at].heading) +
              "\n";
      blocks(chapter.sections[at].blocks);
      out_ += "</section>\n";
    }
    out_ += "</article>\n";
  }

  /// The class of a row of blocks that are side by side if there is space; "" for other blocks.
  static std::string row_of(const Block& block) {
    if (std::holds_alternative<Figure>(block) || std::holds_alternative<Sentences>(block)) return "columns";
    const auto* const table = std::get_if<Table>(&block);
    return table != nullptr && !table->is_folded ? "tables" : "";
  }

  void blocks(const std::vector<Block>& all) {
    std::string open;
    for (const Block& block : all) {
      const std::string row = row_of(block);
      if (row != open && !open.empty()) out_ += "</div>\n";
      if (row != open && !row.empty()) out_ += "<div class=\"" + row + "\">\n";
      open = row;
      std::visit(*this, block);
    }
    if (!open.empty()) out_ += "</div>\n";
  }

  void write_figure(const Figure& figure, const std::vector<Canvas>& canvases) {
    const bool is_small = canvases.size() == 1;
    out_ += "<figure>" + unless_empty(is_small ? "h5" : "h4", figure.heading);
    legend(figure.chart.curves);
    for (const Canvas& canvas : canvases) {
      out_ += is_small                            ? "<div>"
              : canvas.width == wide_canvas.width ? "<div class=\"wide\">"
                                                  : "<div class=\"narrow\">";
      out_ += line_chart_svg(figure.chart, canvas, "f" + std::to_string(++chart_count_)) + "</div>\n";
    }
    out_ += unless_empty("figcaption", figure.caption);
    details(figure.table);
    out_ += "</figure>\n";
  }

  void legend(const std::vector<Curve>& curves) {
    // The heading may name a single curve.
    if (curves.size() == 1 && curves.front().label.empty()) return;
    out_ += "<ul class=\"legend\">";
    for (const Curve& curve : curves) {
      out_ += "<li>" + swatch(curve.style) + "<span>" + escaped(curve.label) + "</span></li>";
    }
    out_ += "</ul>\n";
  }

  void details(const Table& table) {
    if (table.rows.empty()) return;
    const std::string name = table.caption.empty() ? "" : table.caption + ": ";
    out_ += "<details><summary>" + escaped(name + counted(table.rows.size(), "row")) + " as a table</summary>";
    write_table(table);
    out_ += "</details>\n";
  }

  void write_table(const Table& table) {
    out_ += "<div class=\"scroll\" tabindex=\"0\"><table>" + unless_empty("caption", table.caption) + "<thead><tr>";
    for (const std::string& name : table.head) out_ += "<th scope=\"col\">" + escaped(name) + "</th>";
    out_ += "</tr></thead><tbody>\n";
    for (const std::vector<std::string>& row : table.rows) {
      out_ += "<tr>";
      for (std::size_t at = 0; at < row.size(); ++at) {
        out_ += at == 0 ? "<th scope=\"row\">" + escaped(row[at]) + "</th>" : "<td>" + escaped(row[at]) + "</td>";
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody></table></div>\n";
  }

  std::string out_;
  int chart_count_ = 0;
};

}  // namespace

std::string page_html(const Page& page) { return Writer().write(page); }

}  // namespace gdrkit::measure::report
