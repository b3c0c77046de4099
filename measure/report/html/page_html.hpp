// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Writes a Page as one HTML document that is also well-formed XML and refers to nothing outside itself.
#pragma once

#include <string>

#include "measure/report/page.hpp"

namespace gdrkit::measure::report {

[[nodiscard]] std::string page_html(const Page& page);

/// The contents of the page's <style>.
extern const char* const style_sheet;

}  // namespace gdrkit::measure::report
