// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BufferOptions: GDRCopy's options for the mapped buffer, with its words and error messages.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::measure {

/// -a; `target` must outlive the parsing, and contains the default.
[[nodiscard]] cli::Option allocation_option(std::string* target);
/// -M; the same.
[[nodiscard]] cli::Option mapping_type_option(std::string* target);

}  // namespace gdrkit::measure
