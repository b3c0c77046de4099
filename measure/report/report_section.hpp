// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A section of a report: a function that adds itself to the chapter if the document has data for it.
#pragma once

#include <functional>
#include <string>

#include "measure/report/page.hpp"
#include "measure/report/picture.hpp"

namespace gdrkit::measure::report {

#define GDRKIT_REPORT_SECTION(name) void add_##name(Source* source, Chapter* chapter);
#include "measure/report/report_sections.def"
#undef GDRKIT_REPORT_SECTION

/// Shows every picture that `should_take` accepts and that no earlier section showed, as charts or lists, under the
/// heading.
void add_pictures(Source* source, Chapter* chapter, const std::string& heading, const std::string& introduction,
                  const std::function<bool(const Picture&)>& should_take);

/// Copies over sizes, with neither the GPU nor the bus kept busy.
[[nodiscard]] bool is_plain_copy(const Picture& picture);
/// Whether any of its series ran with a busy GPU or bus.
[[nodiscard]] bool is_busy(const Picture& picture);

}  // namespace gdrkit::measure::report
