// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two results side by side as a chapter: what differs, what stands out beyond the noise, and every ratio.
#pragma once

#include "bench/result/result.hpp"
#include "tools/report/page.hpp"

namespace gdrkit::tools::report {

[[nodiscard]] Chapter comparison_chapter(const bench::Result& older, const bench::Result& newer);

}  // namespace gdrkit::tools::report
