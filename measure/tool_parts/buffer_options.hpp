// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BufferOptions: GDRCopy's options for the mapped buffer, with its words and its error messages.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::measure {

/// -a; `target` must outlive the parsing, and holds the default.
[[nodiscard]] cli::Option allocation_option(std::string* target);
/// -M; likewise.
[[nodiscard]] cli::Option mapping_type_option(std::string* target);

}  // namespace gdrkit::measure
