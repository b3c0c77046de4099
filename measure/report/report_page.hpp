// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Results as a Page: a chapter per document, and one that compares them if there are two.
#pragma once

#include <string>
#include <vector>

#include "measure/report/page.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::report {

/// An empty title is replaced by one from the documents.
[[nodiscard]] Page page_of(const std::vector<measure::Result>& results, const std::string& title);

/// Their differences, changes beyond the noise, and all ratios.
[[nodiscard]] Chapter comparison_chapter(const measure::Result& older, const measure::Result& newer);

}  // namespace gdrkit::measure::report
