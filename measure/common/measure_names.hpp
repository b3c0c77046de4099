// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Programs name the types of measure/harness and measure/result without a prefix.
#pragma once

namespace gdrkit::measure {}

namespace gdrkit::tools {
using namespace measure;  // NOLINT(google-build-using-namespace)
}
