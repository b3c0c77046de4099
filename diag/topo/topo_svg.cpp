// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The tree as a self-contained picture: a panel for each NUMA node, with its devices in a row at the bottom.
#include <algorithm>
#include <cstdio>

#include "diag/topo/drawing.hpp"
#include "diag/topo/topo_outputs.hpp"
#include "diag/topology/xml_text.hpp"

namespace gdrkit::diag::topo {
namespace {

constexpr int box_width = 148;
constexpr int box_height = 44;
constexpr int gap = 14;
constexpr int level_height = 96;
constexpr int panel_margin = 22;
constexpr int panel_head = 36;
constexpr int page_margin = 20;

// The colours follow the browser's colour scheme.
constexpr const char* styles =
    "  <style>\n"
    "    svg { --ink: #1c1c1c; --faint: #5c5c5c; --page: #ffffff; --panel: #f6f6f4; --line: #8a8a8a; --gpu: #d9efca;\n"
    "      --adapter: #d7e7fa; --switch: #fdf0cf; --host: #e9e9e7; --nvswitch: #e7dbf5; --nvlink: #3f8a1f; }\n"
    "    @media (prefers-color-scheme: dark) { svg { --ink: #ededed; --faint: #b4b4b4; --page: #161616; --panel: "
    "#202020;\n"
    "      --line: #7c7c7c; --gpu: #2c4a1c; --adapter: #1d3a5c; --switch: #54431a; --host: #343434; --nvswitch: "
    "#43305c; --nvlink: #7fd058; } }\n"
    "    text { fill: var(--ink); font: 13px system-ui, sans-serif; text-anchor: middle; }\n"
    "    .detail { fill: var(--faint); font-size: 11px; } .link { fill: var(--faint); font-size: 10px; }\n"
    "    .left { text-anchor: start; } .title { font-weight: 600; }\n"
    "    rect { stroke: var(--line); } path { stroke: var(--line); fill: none; } .nvlink { stroke: var(--nvlink); "
    "stroke-width: 2; }\n"
    "    .nvtext { fill: var(--nvlink); font-size: 11px; }\n"
    "  </style>\n";

const char* colour_of(BoxKind kind) {
  constexpr const char* names[] = {"panel", "host", "switch", "gpu", "adapter", "nvswitch"};
  return names[static_cast<std::size_t>(kind)];
}

std::string escaped(const std::string& text) { return topology::xml_escaped(cli::printable(text)); }

class Picture {
 public:
  explicit Picture(const Drawing& drawing)
      : drawing_(drawing), below_(drawing.boxes.size()), x_(below_.size()), y_(below_.size()) {
    for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
      if (drawing.boxes[i].above.has_value()) below_[*drawing.boxes[i].above].push_back(i);
    }
  }

  void print(const std::string& heading) {
    int top = page_margin + 34;
    std::string body;
    for (std::size_t i = 0; i < drawing_.boxes.size(); ++i) {
      if (!drawing_.boxes[i].above.has_value()) body += panel(i, &top);
    }
    body += nvlinks();
    const int height = top + (drawing_.note.empty() ? 4 : 28);
    std::printf(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
        "aria-label=\"%s\">\n%s"
        "  <rect width=\"100%%\" height=\"100%%\" style=\"fill: var(--page); stroke: none\"/>\n"
        "  <text class=\"title left\" x=\"%d\" y=\"%d\">%s</text>\n%s",
        width_ + 2 * page_margin, height, width_ + 2 * page_margin, height, escaped(heading).c_str(), styles,
        page_margin, page_margin + 14, escaped(heading).c_str(), body.c_str());
    if (!drawing_.note.empty()) {
      std::printf("  <text class=\"detail left\" x=\"%d\" y=\"%d\">%s</text>\n", page_margin, top + 8,
                  escaped(drawing_.note).c_str());
    }
    std::printf("</svg>\n");
  }

 private:
  /// Places everything below `box`: leaves side by side at the bottom, every other box above the middle of its
  /// children.
  int place(std::size_t box, int level, int left, int foot) {
    if (below_[box].empty()) {
      x_[box] = left + box_width / 2;
      y_[box] = foot;
      return left + box_width + gap;
    }
    int right = left;
    for (const std::size_t child : below_[box]) right = place(child, level + 1, right, foot);
    x_[box] = (x_[below_[box].front()] + x_[below_[box].back()]) / 2;
    y_[box] = foot - (depth_ - level) * level_height;
    return right;
  }

  [[nodiscard]] int depth_below(std::size_t box) const {
    int deepest = 0;
    for (const std::size_t child : below_[box]) deepest = std::max(deepest, 1 + depth_below(child));
    return deepest;
  }

  std::string panel(std::size_t numa, int* top) {
    depth_ = depth_below(numa);
    const int left = page_margin + panel_margin;
    const int foot = *top + panel_head + std::max(depth_ - 1, 0) * level_height;
    int right = left;
    for (const std::size_t child : below_[numa]) right = place(child, 1, right, foot);
    const int inner = std::max(right - gap - left, 2 * box_width);
    const int height = foot + box_height + panel_margin + (drawing_.nvlinks.empty() ? 0 : 34) - *top;
    width_ = std::max(width_, inner + 2 * panel_margin);
    std::string text =
        cli::format("  <rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" style=\"fill: var(--panel)\"/>\n",
                    page_margin, *top, inner + 2 * panel_margin, height);
    text += cli::format("  <text class=\"title left\" x=\"%d\" y=\"%d\">%s</text>\n", left, *top + 23,
                        escaped(drawing_.boxes[numa].title).c_str());
    for (const std::size_t child : below_[numa]) text += tree(child, numa);
    *top += height + gap;
    return text;
  }

  std::string tree(std::size_t box, std::size_t numa) {
    const Box& own = drawing_.boxes[box];
    std::string text;
    if (own.above != numa) {
      // Horizontal first, then vertical: the column above a device is free, unlike that of its switch.
      const int from = y_[*own.above] + box_height;
      text += cli::format("  <path d=\"M%d %d V%d H%d V%d\"/>\n", x_[*own.above], from, from + 16, x_[box], y_[box]);
      if (!own.link.empty()) {
        text += cli::format(
            "  <text class=\"link\" x=\"%d\" y=\"%d\" style=\"paint-order: stroke; stroke: var(--panel); stroke-width: "
            "4px\">%s</text>\n",
            x_[box], y_[box] - 8, escaped(own.link).c_str());
      }
    }
    text += cli::format("  <rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" style=\"fill: var(--%s)\"/>\n",
                        x_[box] - box_width / 2, y_[box], box_width, box_height, colour_of(own.kind));
    text += cli::format("  <text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", x_[box],
                        y_[box] + (own.detail.empty() ? 27 : 19), escaped(own.title).c_str());
    if (!own.detail.empty()) {
      const char* fit = own.detail.size() > 24 ? " textLength=\"138\" lengthAdjust=\"spacingAndGlyphs\"" : "";
      text += cli::format("  <text class=\"detail\" x=\"%d\" y=\"%d\"%s>%s</text>\n", x_[box], y_[box] + 35, fit,
                          escaped(own.detail).c_str());
    }
    for (const std::size_t child : below_[box]) text += tree(child, numa);
    return text;
  }

  /// Arcs below the row of devices; straight lines at the side between panels.
  std::string nvlinks() {
    std::string text;
    for (const NvLinkLine& line : drawing_.nvlinks) {
      const int foot_a = y_[line.from] + box_height;
      const int foot_b = y_[line.to] + box_height;
      const int low = foot_a == foot_b ? foot_a + 44 : std::max(foot_a, foot_b) + 30;
      text += cli::format("  <path class=\"nvlink\" d=\"M%d %d C%d %d %d %d %d %d\"/>\n", x_[line.from] + 20, foot_a,
                          x_[line.from] + 20, low, x_[line.to] - 20, low, x_[line.to] - 20, foot_b);
      text += cli::format("  <text class=\"nvtext\" x=\"%d\" y=\"%d\">%u NVLinks</text>\n",
                          (x_[line.from] + x_[line.to]) / 2, std::max(foot_a, foot_b) + 24, line.count);
    }
    return text;
  }

  const Drawing& drawing_;
  std::vector<std::vector<std::size_t>> below_;
  std::vector<int> x_;
  std::vector<int> y_;
  int depth_ = 0;
  int width_ = 0;
};

}  // namespace

void print_svg(const TopologyFacts& facts) {
  const std::string heading = cli::format("%zu GPU(s) and %zu adapter(s) of %s", facts.tree.gpus.size(),
                                          facts.tree.adapters.size(), facts.source.c_str());
  const Drawing drawing = draw(facts);
  Picture(drawing).print(heading);
}

}  // namespace gdrkit::diag::topo
