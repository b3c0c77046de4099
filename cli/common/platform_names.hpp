// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Programs name the types of platform/ without a prefix: they are its users, and nothing of their own has these names.
#pragma once

namespace gdrkit::platform {}

namespace gdrkit::tools {
using namespace platform;  // NOLINT(google-build-using-namespace)
}
