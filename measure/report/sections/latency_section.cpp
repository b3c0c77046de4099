// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {

void add_latency(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Latency against size", "Time for one copy, both axes logarithmic.",
               [](const Picture& picture) { return is_plain_copy(picture) && picture.quantity() == Quantity::time; });
}

}  // namespace gdrkit::measure::report
