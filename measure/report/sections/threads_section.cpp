// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {

void add_threads(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Threads", "", [](const Picture& picture) {
    return picture.first().x_name == "threads" ||
           std::any_of(picture.series.begin(), picture.series.end(),
                       [](const measure::Series* series) { return series->conditions.count("threads") > 0; });
  });
}

}  // namespace gdrkit::measure::report
