// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {

void add_round_trips(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Round trips between CPU and GPU", "", [](const Picture& picture) {
    return std::any_of(picture.series.begin(), picture.series.end(),
                       [](const measure::Series* series) { return series->operation == "ping_pong"; });
  });
}

}  // namespace gdrkit::measure::report
