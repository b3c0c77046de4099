// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WholeFile: output files that are written completely or not at all.
#pragma once

#include <string>

namespace gdrkit::cli {

/// Throws Failure(usage) if `path` cannot be written, so that the error is reported before a measurement. Writes
/// nothing.
void check_can_write(const std::string& path);

/// Writes a temporary file in the same directory and renames it to `path`: readers see the old or the new content, and
/// an interrupted or failed run leaves the old file. A path that is not a regular file (/dev/stdout, a pipe) is written
/// directly. Throws Failure(failed) with the reason after removing the temporary file.
void write_whole_file(const std::string& path, const std::string& content);

/// Whether writing one destroys the contents of the other: two names of one regular file, which may not exist yet.
[[nodiscard]] bool are_one_file(const std::string& path, const std::string& other);

}  // namespace gdrkit::cli
