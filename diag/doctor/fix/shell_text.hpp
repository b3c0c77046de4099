// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ShellText: what a file of the machine held, as a word or a comment that no shell takes for code.
#pragma once

#include <optional>
#include <string>

namespace gdrkit::diag::doctor {

/// True for 1 to 64 of letters, digits and . _ : @ -, the first one no hyphen: all that names of devices need.
[[nodiscard]] bool is_safe_word(const std::string& text);

/// In single quotes; empty when it is not a safe word.
[[nodiscard]] std::optional<std::string> shell_word(const std::string& text);

/// Lines that start with '#' and `indent` blanks, wrapped; printable ASCII, whatever `text` holds.
[[nodiscard]] std::string shell_comment(const std::string& text, unsigned indent = 1);

}  // namespace gdrkit::diag::doctor
