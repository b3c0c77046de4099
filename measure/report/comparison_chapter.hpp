// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two results side by side as a chapter: what differs, what stands out beyond the noise, and every ratio.
#pragma once

#include "measure/report/page.hpp"
#include "measure/result/result.hpp"

namespace gdrkit::measure::report {

[[nodiscard]] Chapter comparison_chapter(const measure::Result& older, const measure::Result& newer);

}  // namespace gdrkit::measure::report
