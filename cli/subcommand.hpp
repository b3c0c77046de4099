// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Subcommand: one line of subcommands.def.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/interface/command_line.hpp"

namespace gdrkit::cli {

struct Subcommand {
  const char* name;  ///< `gdrkit <name>`; the program's own name may be this or gdrcopy_<name>
  const char* summary;
  bool has_gdrcopy_name;  ///< GDRCopy has a tool of this name
  /// argv[0] is the name of the program. May throw Failure, and for Front::table the table of its options.
  ExitCode (*run)(Front front, int argc, char** argv);
};

/// In the order of subcommands.def.
[[nodiscard]] const std::vector<Subcommand>& all_subcommands();
[[nodiscard]] const Subcommand* find_subcommand(const std::string& name);  ///< nullptr: unknown
[[nodiscard]] CommandLine options_of(const Subcommand& subcommand);

}  // namespace gdrkit::cli
