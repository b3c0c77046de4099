// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder: takes from a machine, or from a recording of one, what recorded_paths() names.
#pragma once

#include "tools/machine/machine.hpp"
#include "tools/snapshot/recording.hpp"

namespace gdrkit::tools::snapshot {

/// Throws Failure when it is more than an archive that can be read again may hold.
[[nodiscard]] Recording record(const MachineView& view);

}  // namespace gdrkit::tools::snapshot
