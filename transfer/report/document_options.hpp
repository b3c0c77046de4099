// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DocumentOptions: --json, --csv, --compare and --force of every transfer test.
#pragma once

#include <string>

#include "cli/interface/command_line.hpp"

namespace gdrkit::transfer::report {

struct DocumentOptions {
  cli::DocumentOption json;
  cli::DocumentOption csv;
  std::string compare_path;  ///< "": no comparison
  bool is_forced = false;

  [[nodiscard]] bool is_document_on_stdout() const { return json.is_on_stdout() || csv.is_on_stdout(); }
};

/// Appends the options; `options` must outlive the parsing. `json_letter`: a short name of --json, or '\0'.
void add_document_options(cli::CommandLine* line, DocumentOptions* options, char json_letter = '\0');

}  // namespace gdrkit::transfer::report
