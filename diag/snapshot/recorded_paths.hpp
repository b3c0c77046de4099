// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RecordedPaths: the lists of what a recording holds: paths.def with the paths of the checks, and variables.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/machine/recorded_path.hpp"

namespace gdrkit::diag::snapshot {

using Kind = RecordedPath::Kind;

/// "content", "name", "setpci", "variables".
[[nodiscard]] const char* name_of(Kind kind);

[[nodiscard]] const std::vector<RecordedPath>& recorded_paths();
/// "/a/{b,c}" as "/a/b" and "/a/c".
[[nodiscard]] std::vector<std::string> without_braces(const std::string& pattern);
/// Whether `name` is what `pattern` describes, in which each * stands for any characters.
[[nodiscard]] bool is_described(std::string_view name, std::string_view pattern);
/// Whether a variable is recorded: one of the list, and none that may hold a secret.
[[nodiscard]] bool is_recorded_variable(std::string_view name);
/// Their names.
[[nodiscard]] std::vector<std::string> recorded_variables();
/// What --list prints.
void print_recorded_paths();

}  // namespace gdrkit::diag::snapshot
