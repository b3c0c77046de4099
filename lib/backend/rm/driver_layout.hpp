// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DriverLayout: the structure sizes of a driver version. Unknown versions are rejected, never guessed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "driver/driver_version.hpp"

namespace gdrkit::backend::rm {

/// The used parts of the interface that differ between versions. All others are the same since 515.43.04 (rm_abi.hpp).
struct DriverLayout {
  driver::DriverVersion first;  ///< first version of this row
  std::uint32_t fb_info_bytes;  ///< size of FB_GET_INFO_V2's parameters
  bool has_version_query;       ///< CHECK_VERSION_STR supports the query command
  bool reports_caching_type;    ///< RM_MAP_MEMORY returns the mapping's caching type in its flags
};

/// The newest major version whose interface was compared with this table.
inline constexpr unsigned newest_reviewed_major = 620;

/// ENOTSUP: the version is older than 515, or newer than the newest reviewed major and not `allow_unreviewed`.
[[nodiscard]] base::Result<DriverLayout> layout_for(const driver::DriverVersion& version,
                                                    const std::string& version_text, bool allow_unreviewed) noexcept;

}  // namespace gdrkit::backend::rm
