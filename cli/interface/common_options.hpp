// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommonOptions: the options that every subcommand has.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::cli {

struct CommonOptions {
  int device = 0;
  std::string backend;
  std::string copy_kernel;
  DocumentOption json;
  bool quiet = false;
};

/// Appends --device, --backend, --copy-kernel, --json and --quiet; `options` must outlive the parsing.
void add_common_options(CommandLine* line, CommonOptions* options);

/// --json [FILE], as every subcommand has it. `schema`: the page that describes the document.
[[nodiscard]] Option json_option(DocumentOption* target, const std::string& schema);

/// Throws as apply() does.
void check_copy_kernel(const std::string& wanted);

/// Puts --backend and --copy-kernel into this process's environment, where the drop-in library reads them. Throws
/// Failure: usage for a copy kernel that does not exist, cannot_run for one that this CPU does not run.
void apply(const CommonOptions& options);

}  // namespace gdrkit::cli
