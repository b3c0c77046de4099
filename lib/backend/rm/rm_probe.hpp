// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Finds out whether the stock driver can be used on this machine.
#pragma once

#include <memory>

#include "backend/rm/driver_layout.hpp"
#include "backend/rm/rm_client.hpp"
#include "base/result.hpp"
#include "base/settings.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

struct Probed {
  DriverLayout layout;
  std::unique_ptr<RmClient> client;
};

/// Driver loaded, version known, control node usable, and at least one GPU whose node is here. Opens no GPU's node, so
/// an idle GPU is not woken.
[[nodiscard]] base::Result<Probed> probe(driver::System& system, const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
