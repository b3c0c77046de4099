// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DocumentOption: --json [FILE] and --csv [FILE], the same for every tool.
#pragma once

#include <string>

namespace gdrkit::cli {

/// Without FILE (or with "-") the document replaces the text on standard output. With FILE the document is written to
/// it, and the text stays on standard output.
struct DocumentOption {
  bool is_given = false;
  std::string path;  ///< "": standard output

  [[nodiscard]] bool is_on_stdout() const noexcept { return is_given && path.empty(); }
  [[nodiscard]] bool is_in_file() const noexcept { return is_given && !path.empty(); }
};

/// Does nothing if the option was not given. A file is written completely or not at all (whole_file.hpp). Throws
/// Failure(failed) if the file cannot be written. A failure of standard output is reported when the program ends.
void write_document(const DocumentOption& option, const std::string& text);

}  // namespace gdrkit::cli
