// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// WholeFile: output files that appear whole or not at all.
#pragma once

#include <string>

namespace gdrkit::cli {

/// Throws Failure(usage) when `path` cannot be written to, so that nobody measures for a minute first. Writes nothing.
void check_can_write(const std::string& path);

/// Writes a neighbour of `path` and renames it over `path`: readers see the old content or all of the new one, and an
/// interrupted or failed run leaves the old file. What is no ordinary file (/dev/stdout, a pipe) is written directly.
/// Throws Failure(failed) with the reason; then the neighbour is gone.
void write_whole_file(const std::string& path, const std::string& content);

/// Whether what is written to one is lost when the other is written: two names of one ordinary file, which need not be
/// there yet.
[[nodiscard]] bool are_one_file(const std::string& path, const std::string& other);

}  // namespace gdrkit::cli
