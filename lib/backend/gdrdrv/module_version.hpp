// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ModuleVersion: the version that a loaded gdrdrv reports, and the calls that it has.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::backend::gdrdrv {

struct ModuleVersion {
  std::uint32_t word = 0;  ///< major << 16 | minor

  [[nodiscard]] constexpr unsigned major_number() const noexcept { return word >> 16; }
  [[nodiscard]] constexpr unsigned minor_number() const noexcept { return word & 0xffff; }
  [[nodiscard]] constexpr bool has_mapping_types() const noexcept { return word >= 0x0002'0004; }  ///< GET_INFO_V2
  /// Attributes, pin flags and requests for a mapping type.
  [[nodiscard]] constexpr bool has_requests() const noexcept { return word >= 0x0002'0005; }
};

/// EOPNOTSUPP for modules before 2.0, and for those that require a newer library.
[[nodiscard]] base::Result<ModuleVersion> check_version(std::uint32_t driver, std::uint32_t minimum_api) noexcept;

}  // namespace gdrkit::backend::gdrdrv
