// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The emulated device's memory (lib/shim/emulated_memory.hpp) for those who use platform and not the inside of lib.
#pragma once

#include "shim/emulated_memory.hpp"

namespace gdrkit::platform {

using shim::emulated_adopt;
using shim::emulated_create_shared;
using shim::emulated_export;
using shim::emulated_find;
using shim::emulated_page_bytes;

}  // namespace gdrkit::platform
