// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Source: the structures of every release tag of NVIDIA's open kernel modules from 515.43.04 to 595.45.04, compiled and
// compared. For 610 to 620, the tables of a user-space kernel that validates the same ioctls.
#include "backend/rm/driver_layout.hpp"

namespace gdrkit::backend::rm {
namespace {

constexpr DriverLayout rows[] = {
    {{515, 43, 4}, 436, false, false}, {{520, 56, 6}, 436, false, true}, {{530, 30, 2}, 436, true, true},
    {{545, 23, 6}, 444, true, true},   {{560, 28, 3}, 460, true, true},  {{580, 65, 6}, 1028, true, true},
};

}  // namespace

base::Result<DriverLayout> layout_for(const driver::DriverVersion& version, const std::string& version_text,
                                      bool allow_unreviewed) noexcept {
  if (version < rows[0].first) {
    return base::fail(ENOTSUP,
                      "cannot use NVIDIA driver %s: the oldest supported version is 515.43.04; update the driver",
                      version_text.c_str());
  }
  if (version.major > newest_reviewed_major && !allow_unreviewed) {
    return base::fail(
        ENOTSUP,
        "cannot use NVIDIA driver %s: this gdrkit was reviewed for drivers up to %u.x; update gdrkit, or set "
        "GDRKIT_ALLOW_UNREVIEWED_DRIVER=1 to use this driver at your own risk",
        version_text.c_str(), newest_reviewed_major);
  }
  DriverLayout layout = rows[0];
  for (const DriverLayout& row : rows) {
    if (version >= row.first) layout = row;
  }
  return layout;
}

}  // namespace gdrkit::backend::rm
