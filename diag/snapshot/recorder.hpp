// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Recorder: records the paths of recorded_paths() from a machine or from a recording of one.
#pragma once

#include "diag/machine/machine.hpp"
#include "diag/machine/probe.hpp"
#include "diag/snapshot/recording.hpp"

namespace gdrkit::diag::snapshot {

/// Throws Failure if the recording exceeds the limits for reading archives.
[[nodiscard]] Recording record(const MachineView& view);
/// Adds the results of level probe on a live machine in the format of a recording.
void add_probe(const Probe& probe, Recording* recording);

}  // namespace gdrkit::diag::snapshot
