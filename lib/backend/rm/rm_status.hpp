// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Names and errno values of the resource manager's status codes.
#pragma once

#include <cstdint>

namespace gdrkit::backend::rm {

/// The status codes on which this backend decides.
namespace status {
inline constexpr std::uint32_t ok = 0, invalid_argument = 0x1f, invalid_object_parent = 0x36, no_memory = 0x51;
inline constexpr std::uint32_t insufficient_resources = 0x1a, insufficient_permissions = 0x1b, not_supported = 0x56;
}  // namespace status

[[nodiscard]] const char* status_name(std::uint32_t status) noexcept;  ///< "INSUFFICIENT_PERMISSIONS"; "unknown status"
[[nodiscard]] int status_errno(std::uint32_t status) noexcept;

}  // namespace gdrkit::backend::rm
