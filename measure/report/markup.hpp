// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Markup: text made safe for HTML, and numbers in the format of SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdrkit::measure::report {

/// For text and for attribute values in quotes. Invisible input (control and direction-changing characters, bytes that
/// are not UTF-8) becomes U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);
/// At most `characters` of it, ending in an ellipsis if something was cut. Not escaped.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t characters);
/// How many characters, not bytes.
[[nodiscard]] std::size_t length_of(std::string_view text);
/// A coordinate with one decimal.
[[nodiscard]] std::string coordinate(double value);

}  // namespace gdrkit::measure::report
