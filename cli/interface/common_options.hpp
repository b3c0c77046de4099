// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommonOptions: options of every subcommand.
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

/// --json [FILE], identical in every subcommand. `schema`: the page that describes the document.
[[nodiscard]] Option json_option(DocumentOption* target, const std::string& schema);

/// Throws like apply().
void check_copy_kernel(const std::string& requested);

/// Exports --backend and --copy-kernel to this process's environment, where the drop-in library reads them. Throws
/// Failure: usage for an unknown copy kernel, cannot_run for one that this CPU does not support.
void apply(const CommonOptions& options);

}  // namespace gdrkit::cli
