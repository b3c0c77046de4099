// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include "measure/report/section.hpp"

namespace gdrkit::tools::report {
namespace {

constexpr const char* operations[] = {"open", "close", "pin", "map", "pin_and_map", "unmap", "unpin"};

bool is_cost(const Picture& picture) {
  return std::any_of(picture.series.begin(), picture.series.end(), [](const measure::Series* series) {
    return std::any_of(std::begin(operations), std::end(operations),
                       [&](const char* name) { return series->operation == name; });
  });
}

}  // namespace

void add_costs(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Cost of pinning and mapping",
               "The time of each call before the first copy and after the last, against the size of the memory.",
               is_cost);
}

}  // namespace gdrkit::tools::report
