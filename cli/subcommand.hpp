// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Subcommand: one line of subcommands.def.
#pragma once

#include "cli/common/command_line.hpp"

namespace gdrkit::tools {

struct Subcommand {
  const char* name;  ///< `gdrkit <name>`, and the program's own name may be this or gdrcopy_<name>
  const char* summary;
  bool has_gdrcopy_name;  ///< the predecessor has a tool of this name
  /// argv[0] is the name it was called by. May throw Failure.
  ExitCode (*run)(Front front, int argc, char** argv);
};

}  // namespace gdrkit::tools
