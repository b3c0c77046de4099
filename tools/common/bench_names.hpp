// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The tools name the types of bench/ without a prefix: they are its users, and nothing of their own has these names.
#pragma once

namespace gdrkit::bench {}

namespace gdrkit::tools {
using namespace bench;  // NOLINT(google-build-using-namespace)
}
