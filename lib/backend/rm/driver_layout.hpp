// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DriverLayout: which structure sizes a driver version uses. Unknown versions are refused, never guessed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "driver/driver_version.hpp"

namespace gdrkit::backend::rm {

/// Only what changes between versions and is used here; everything else is frozen from 515.43.04 on (rm_abi.hpp).
struct DriverLayout {
  driver::DriverVersion first;  ///< first version that this row describes
  std::uint32_t fb_info_bytes;  ///< size of FB_GET_INFO_V2's parameters
  bool has_version_query;       ///< CHECK_VERSION_STR has the query command
  bool reports_caching_type;    ///< RM_MAP_MEMORY returns the mapping's caching type in its flags
};

/// Newest major version whose interface was compared with this table.
inline constexpr unsigned newest_reviewed_major = 620;

/// ENOTSUP for versions before 515, and after the newest reviewed major unless `allow_unreviewed`.
[[nodiscard]] base::Result<DriverLayout> layout_for(const driver::DriverVersion& version,
                                                    const std::string& version_text, bool allow_unreviewed) noexcept;

}  // namespace gdrkit::backend::rm
