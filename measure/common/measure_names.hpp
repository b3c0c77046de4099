// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Programs name the types of measure/harness and measure/result without a prefix, as they do those of platform/.
#pragma once

#include "cli/common/platform_names.hpp"

namespace gdrkit::measure {}

namespace gdrkit::tools {
using namespace measure;  // NOLINT(google-build-using-namespace)
}
