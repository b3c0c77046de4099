// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Checks whether the stock driver is usable on this machine.
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

/// Checks that the driver is loaded, its version is supported, the control node is usable, and at least one GPU has a
/// usable node. Does not open the node of a GPU, so an idle GPU is not woken.
[[nodiscard]] base::Result<Probed> probe(driver::System& system, const base::Settings& settings) noexcept;

}  // namespace gdrkit::backend::rm
