// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Summary: what a recording contains and lacks, as text and as JSON.
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
  std::size_t files = 0;  ///< with recorded content
  std::vector<std::string> missed;

  /// A recording with missing files is written nevertheless: it contains everything that could be read.
  [[nodiscard]] cli::ExitCode exit_code() const {
    return missed.empty() ? cli::ExitCode::ok : cli::ExitCode::unreadable;
  }
};

/// Schema gdrkit.snapshot/1: diag/snapshot/README.md.
void write_summary_json(const cli::DocumentOption& option, const Summary& summary);
/// Schema gdrkit.snapshot-list/1.
void write_list_json(const cli::DocumentOption& option);

}  // namespace gdrkit::diag::snapshot
