// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The tree for Graphviz.
#include <cstdio>

#include "diag/topo/drawing.hpp"
#include "diag/topo/topo_outputs.hpp"

namespace gdrkit::diag::topo {
namespace {

/// As a quoted string of DOT.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : cli::printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

const char* style_of(BoxKind kind) {
  constexpr const char* styles[] = {"shape=box3d, fillcolor=\"#e8e8e8\"",     "shape=box, fillcolor=\"#f4f4f4\"",
                                    "shape=trapezium, fillcolor=\"#fff3d6\"", "shape=box, fillcolor=\"#d8f0c8\"",
                                    "shape=box, fillcolor=\"#d6e6fa\"",       "shape=hexagon, fillcolor=\"#e6d8f4\""};
  return styles[static_cast<std::size_t>(kind)];
}

}  // namespace

void print_dot(const TopologyFacts& facts) {
  const Drawing drawing = draw(facts);
  std::printf("graph topology {\n  graph [rankdir=TB, label=%s];\n  node [style=filled, fontname=\"sans-serif\"];\n",
              quoted(drawing.note).c_str());
  for (std::size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Box& box = drawing.boxes[i];
    const std::string label = box.title + (box.detail.empty() ? "" : "\n" + box.detail);
    std::printf("  n%zu [label=%s, %s];\n", i, quoted(label).c_str(), style_of(box.kind));
    if (box.above.has_value()) std::printf("  n%zu -- n%zu [label=%s];\n", *box.above, i, quoted(box.link).c_str());
  }
  for (const NvLinkLine& line : drawing.nvlinks) {
    std::printf("  n%zu -- n%zu [label=\"%u NVLinks\", color=\"#4c9a2a\", penwidth=2, constraint=false];\n", line.from,
                line.to, line.count);
  }
  std::printf("}\n");
}

}  // namespace gdrkit::diag::topo
