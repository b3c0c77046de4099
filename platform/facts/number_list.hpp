// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NumberList: "0-3,8,10-11", the format in which sysfs lists CPUs and nodes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::platform {

/// Largest accepted number. A larger one means a damaged file, and its list would fill the memory.
inline constexpr int largest_listed_number = 65535;

/// The numbers, ascending, without duplicates. "" and "
/// " are an empty list. EINVAL with the input for anything else.
[[nodiscard]] base::Result<std::vector<int>> parse_number_list(std::string_view text);
/// Of a file. The text of ENOENT and other read errors contains the path.
[[nodiscard]] base::Result<std::vector<int>> read_number_list(const std::string& path);
/// "0-3,8": the shortest list of `numbers`, which must be ascending.
[[nodiscard]] std::string to_list_text(const std::vector<int>& numbers);

}  // namespace gdrkit::platform
