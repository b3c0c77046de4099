// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "tools/report/section.hpp"

namespace gdrkit::tools::report {

void add_busy(Source* source, Chapter* chapter) {
  add_pictures(source, chapter, "Beside a busy GPU or a busy bus",
               "The same operations while something else keeps the GPU or the bus busy.", is_busy);
}

}  // namespace gdrkit::tools::report
