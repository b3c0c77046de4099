// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The sections that consist of pictures alone.
#include <algorithm>

#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {
namespace {

template <class Is>
bool has_series(const Picture& picture, Is is) {
  return std::any_of(picture.series.begin(), picture.series.end(), is);
}

}  // namespace

void add_latency(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Latency against size", "Time for one copy, both axes logarithmic.",
               [](const Picture& picture) { return is_plain_copy(picture) && picture.quantity() == Quantity::time; });
}

void add_threads(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Threads", "", [](const Picture& picture) {
    return picture.first().x_name == "threads" ||
           has_series(picture, [](const auto* series) { return series->conditions.count("threads") > 0; });
  });
}

void add_round_trips(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Round trips between CPU and GPU", "", [](const Picture& picture) {
    return has_series(picture, [](const auto* series) { return series->operation == "ping_pong"; });
  });
}

/// All pictures that no earlier section took: no part of a document is dropped.
void add_others(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "More measurements", "", [](const Picture&) { return true; });
}

}  // namespace gdrkit::measure::report
