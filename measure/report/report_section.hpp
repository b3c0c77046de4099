// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a section of a report is: a function that adds itself to the chapter if the document has something for it.
#pragma once

#include <functional>
#include <string>

#include "measure/report/page.hpp"
#include "measure/report/picture.hpp"

namespace gdrkit::measure::report {

#define GDRKIT_REPORT_SECTION(name) void add_##name(Source* source, Chapter* chapter);
#include "measure/report/report_sections.def"
#undef GDRKIT_REPORT_SECTION

/// Shows every picture that `wants` it and that no earlier section showed, as charts or lists, under the heading.
void add_pictures(Source* source, Chapter* chapter, const std::string& heading, const std::string& introduction,
                  const std::function<bool(const Picture&)>& wants);

/// Copies over sizes, with neither the GPU nor the bus kept busy.
[[nodiscard]] bool is_plain_copy(const Picture& picture);
/// Any of its series ran beside a GPU or a bus that was kept busy.
[[nodiscard]] bool is_busy(const Picture& picture);

}  // namespace gdrkit::measure::report
