// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OutputFile: a file that is written whole or not at all.
#pragma once

#include <string>

namespace gdrkit::tools::report {

/// Replaces the file at once by one that holds `content`; what is no ordinary file (a pipe, a device) is written into.
/// Throws Failure(failed), and then the file is as it was.
void write_whole(const std::string& path, const std::string& content);

}  // namespace gdrkit::tools::report
