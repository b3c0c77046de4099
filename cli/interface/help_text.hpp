// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HelpText: what --help prints, made of the table of options.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::cli {

/// Of `gdrkit <name>`. Defaults are what the targets hold now.
[[nodiscard]] std::string help_text(const CommandLine& line);
/// Under a name of GDRCopy's tools, called as `program`.
[[nodiscard]] std::string gdrcopy_help_text(const CommandLine& line, const std::string& program);

}  // namespace gdrkit::cli
