// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder: takes from a machine, or from a recording of one, what recorded_paths() names.
#pragma once

#include "diag/machine/machine.hpp"
#include "diag/machine/probe.hpp"
#include "diag/snapshot/recording.hpp"

namespace gdrkit::diag::snapshot {

/// Throws Failure when it is more than an archive that can be read again may hold.
[[nodiscard]] Recording record(const MachineView& view);
/// What level probe learnt of a live machine, where a recording of it is looked for.
void add_probe(const Probe& probe, Recording* recording);

}  // namespace gdrkit::diag::snapshot
