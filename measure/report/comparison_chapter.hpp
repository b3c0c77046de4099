// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A chapter that compares two results: their differences, changes beyond the noise, and all ratios.
#pragma once

#include "measure/report/page.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::report {

[[nodiscard]] Chapter comparison_chapter(const measure::Result& older, const measure::Result& newer);

}  // namespace gdrkit::measure::report
