// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DriverModel: the differences between the driver versions that FakeRm emulates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gdrkit::fakes {

struct DriverModel {
  std::string version;                  ///< as the driver writes it
  std::uint32_t alloc_status_at = 28;   ///< in the short RM_ALLOC: 24 up to 530, 28 from 535.43.02 on
  std::uint32_t alloc_long_bytes = 48;  ///< 40 up to 530
  std::uint32_t fb_info_bytes = 1028;   ///< FB_GET_INFO_V2
  std::uint32_t export_bytes = 2608;    ///< EXPORT_TO_DMABUF_FD: 2600 up to 565
  bool has_version_query = true;        ///< CHECK_VERSION_STR's command '2', from 530.30.02 on
  bool has_wait_open = true;            ///< from 550.40.07 on
  bool reports_caching = true;          ///< RM_MAP_MEMORY returns the caching type, from 520.56.06 on
  bool maps_discontiguously = true;     ///< BAR1 may be allocated in pieces, from 565.57.01 on
  std::uint32_t extra_bytes = 0;        ///< added to the size of every structure: an unknown driver
};

/// One model for each version that changed something, and for the newest ones.
[[nodiscard]] const std::vector<DriverModel>& driver_models();
/// Returns the newest of driver_models() that is not newer than `version` ("580.159.04"), with that version string.
[[nodiscard]] DriverModel driver_model(std::string_view version);
/// Reports a reviewed version, but every structure is 8 bytes longer.
[[nodiscard]] DriverModel alien_driver_model();

}  // namespace gdrkit::fakes
