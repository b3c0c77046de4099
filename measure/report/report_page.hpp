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

}  // namespace gdrkit::measure::report
