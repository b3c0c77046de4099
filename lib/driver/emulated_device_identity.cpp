// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/emulated_device_identity.hpp"

#include <charconv>
#include <system_error>

namespace gdrkit::driver {

base::Result<int> emulated_device_count(std::string_view setting) noexcept {
  if (setting.empty()) return 1;
  int count = 0;
  const char* const last = setting.data() + setting.size();
  const auto [end, error] = std::from_chars(setting.data(), last, count);
  if (error == std::errc() && end == last && count >= 1 && count <= most_emulated_devices) return count;
  return base::fail(EINVAL, "invalid GDRKIT_EMULATED_DEVICES \"%.*s\"; set a number from 1 to %d",
                    static_cast<int>(setting.size() > 40 ? 40 : setting.size()), setting.data(), most_emulated_devices);
}

}  // namespace gdrkit::driver
