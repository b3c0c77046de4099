// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// All pictures that no earlier section took: no part of a document is dropped.
#include "measure/report/report_section.hpp"

namespace gdrkit::measure::report {

void add_others(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "More measurements", "", [](const Picture&) { return true; });
}

}  // namespace gdrkit::measure::report
