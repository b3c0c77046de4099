// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Number lists as sysfs formats CPUs and nodes, for example "0-3,8,10-11".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gdrkit::platform {

/// Largest valid number. A larger number means a corrupt file; such a range could exhaust the memory.
inline constexpr int largest_listed_number = 65535;

/// Returns the numbers in ascending order without duplicates. "" and "\n" are empty lists. EINVAL: any other text; the
/// error quotes it.
[[nodiscard]] base::Result<std::vector<int>> parse_number_list(std::string_view text);
/// The same for the contents of a file. Read errors, such as ENOENT, name the path.
[[nodiscard]] base::Result<std::vector<int>> read_number_list(const std::string& path);
/// Formats `numbers`, which must be ascending, as the shortest list, for example "0-3,8".
[[nodiscard]] std::string to_list_text(const std::vector<int>& numbers);

}  // namespace gdrkit::platform
