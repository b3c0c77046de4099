// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ModuleVersion: the version of the loaded gdrdrv, and which calls it has.
#pragma once

#include <cstdint>

#include "base/result.hpp"

namespace gdrkit::backend::gdrdrv {

struct ModuleVersion {
  std::uint32_t word = 0;  ///< major << 16 | minor

  [[nodiscard]] constexpr unsigned major_number() const noexcept { return word >> 16; }
  [[nodiscard]] constexpr unsigned minor_number() const noexcept { return word & 0xffff; }
  [[nodiscard]] constexpr bool has_mapping_types() const noexcept { return word >= 0x0002'0004; }  ///< GET_INFO_V2
  /// Attributes, pin flags and requests of a mapping type.
  [[nodiscard]] constexpr bool has_requests() const noexcept { return word >= 0x0002'0005; }
};

/// EOPNOTSUPP: a module before 2.0, or one that requires a newer library.
[[nodiscard]] base::Result<ModuleVersion> check_version(std::uint32_t driver, std::uint32_t minimum_api) noexcept;

}  // namespace gdrkit::backend::gdrdrv
