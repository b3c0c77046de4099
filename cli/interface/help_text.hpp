// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HelpText: the output of --help, generated from the table of options.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::cli {

/// For `gdrkit <name>`. The defaults are the current values of the targets.
[[nodiscard]] std::string help_text(const CommandLine& line);
/// For the name of a GDRCopy tool, called as `program`.
[[nodiscard]] std::string gdrcopy_help_text(const CommandLine& line, const std::string& program);

}  // namespace gdrkit::cli
