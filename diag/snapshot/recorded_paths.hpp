// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RecordedPaths: the contents of a recording: paths.def with the paths of the checks, and variables.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::snapshot {

using doctor::RecordedPath;
using Kind = RecordedPath::Kind;

/// "content", "name", "setpci", "variables".
[[nodiscard]] const char* name_of(Kind kind);

[[nodiscard]] const std::vector<RecordedPath>& recorded_paths();
/// "/a/{b,c}" as "/a/b" and "/a/c".
[[nodiscard]] std::vector<std::string> without_braces(const std::string& pattern);
/// Whether `name` matches `pattern`, in which each * matches any characters.
[[nodiscard]] bool is_described(std::string_view name, std::string_view pattern);
/// Whether a variable is recorded: it is in the list and cannot contain a secret.
[[nodiscard]] bool is_recorded_variable(std::string_view name);
/// The names of the recorded variables.
[[nodiscard]] std::vector<std::string> recorded_variables();
/// Prints the list for --list.
void print_recorded_paths();

}  // namespace gdrkit::diag::snapshot
