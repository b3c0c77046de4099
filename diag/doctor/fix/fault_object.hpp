// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FaultObject: the values of ADDRESS, ADAPTER, PORT and INTERFACE for a finding, as words and comments that no shell
// interprets as code.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag::doctor {

/// The known and safe words, by placeholder. A missing placeholder cannot be filled.
using FaultObject = std::map<std::string, std::string>;

/// `subject`: a PCI address, an adapter (mlx5_0), its port (mlx5_0:1) or a network interface.
[[nodiscard]] FaultObject object_of(const std::string& subject, const Machine& machine);

enum class Quoting { none, shell };

/// `text` with every placeholder replaced; empty if one of them cannot be.
[[nodiscard]] std::optional<std::string> filled(const std::string& text, const FaultObject& object, Quoting quoting);

/// True for 1 to 64 characters out of letters, digits and . _ : @ -, not starting with a hyphen. Device names need no
/// others.
[[nodiscard]] bool is_safe_word(const std::string& text);

/// Single-quoted; empty if it is not a safe word.
[[nodiscard]] std::optional<std::string> shell_word(const std::string& text);

/// Lines that start with '#' and `indent` blanks, wrapped, with only printable ASCII.
[[nodiscard]] std::string shell_comment(const std::string& text, unsigned indent = 1);

}  // namespace gdrkit::diag::doctor
