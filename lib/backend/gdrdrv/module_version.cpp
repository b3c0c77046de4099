// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/module_version.hpp"

namespace gdrkit::backend::gdrdrv {
namespace {

constexpr std::uint32_t oldest_module = 0x0002'0000;
constexpr std::uint32_t supported_api = 0x0002'0006;

}  // namespace

base::Result<ModuleVersion> check_version(std::uint32_t driver, std::uint32_t minimum_api) noexcept {
  const ModuleVersion version{driver};
  const ModuleVersion minimum{minimum_api};
  if (driver < oldest_module) {
    return base::fail(EOPNOTSUPP, "cannot use gdrdrv %u.%u: version 2.0 or newer is required; update the kernel module",
                      version.major_number(), version.minor_number());
  }
  if (minimum_api > supported_api) {
    return base::fail(
        EOPNOTSUPP,
        "cannot use gdrdrv %u.%u: it requires a library with API %u.%u or newer, and this one has 2.6; update gdrkit",
        version.major_number(), version.minor_number(), minimum.major_number(), minimum.minor_number());
  }
  return version;
}

}  // namespace gdrkit::backend::gdrdrv
