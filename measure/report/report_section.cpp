// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/report_section.hpp"

#include <algorithm>
#include <utility>

namespace gdrkit::measure::report {

void add_pictures(Source* source, Chapter* chapter, const std::string& heading, const std::string& introduction,
                  const std::function<bool(const Picture&)>& should_take) {
  Section section{heading, {}};
  if (!introduction.empty()) section.blocks.emplace_back(Paragraph{introduction});
  const std::size_t before = section.blocks.size();
  for (Picture& picture : source->pictures) {
    if (picture.is_shown || picture.is_matrix() || !should_take(picture)) continue;
    picture.is_shown = true;
    section.blocks.push_back(block_of(picture, heading_of(picture)));
  }
  if (section.blocks.size() > before) chapter->sections.push_back(std::move(section));
}

bool is_busy(const Picture& picture) {
  const auto is_kept_busy = [](const measure::Series& series, const char* what) {
    const auto found = series.conditions.find(what);
    return found != series.conditions.end() && found->second == "busy";
  };
  return std::ranges::any_of(picture.series, [&](const measure::Series* series) {
    return is_kept_busy(*series, "gpu") || is_kept_busy(*series, "bus");
  });
}

bool is_plain_copy(const Picture& picture) {
  const bool are_copies =
      std::ranges::all_of(picture.series, [](const measure::Series* series) { return series->operation == "copy"; });
  return are_copies && !picture.is_matrix() && picture.x_quantity() == Quantity::size && !is_busy(picture);
}

}  // namespace gdrkit::measure::report
