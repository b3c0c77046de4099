// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ShellText: the contents of a machine's file as a shell word or comment that no shell interprets as code.
#pragma once

#include <optional>
#include <string>

namespace gdrkit::diag::doctor {

/// True for 1 to 64 characters out of letters, digits and . _ : @ -, not starting with a hyphen. Device names need no
/// others.
[[nodiscard]] bool is_safe_word(const std::string& text);

/// Single-quoted; empty if it is not a safe word.
[[nodiscard]] std::optional<std::string> shell_word(const std::string& text);

/// Lines that start with '#' and `indent` blanks, wrapped, with only printable ASCII.
[[nodiscard]] std::string shell_comment(const std::string& text, unsigned indent = 1);

}  // namespace gdrkit::diag::doctor
