// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Summary: what a recording holds and lacks, for people and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag::snapshot {

struct Summary {
  std::string root;
  std::string level;
  bool is_redacted = false;
  std::string file;       ///< of the archive; "-": standard output
  std::size_t bytes = 0;  ///< of the archive
  std::size_t files = 0;  ///< whose content it holds
  std::vector<std::string> missed;

  /// A recording that lacks files is written all the same: it still holds what could be read.
  [[nodiscard]] cli::ExitCode exit_code() const {
    return missed.empty() ? cli::ExitCode::ok : cli::ExitCode::unreadable;
  }
};

/// Schema gdrkit.snapshot/1: diag/snapshot/README.md.
void write_summary_json(const cli::DocumentOption& option, const Summary& summary);
/// Schema gdrkit.snapshot-list/1.
void write_list_json(const cli::DocumentOption& option);

}  // namespace gdrkit::diag::snapshot
