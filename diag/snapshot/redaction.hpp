// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Redaction: takes out of a recording what says whose machine it is, and leaves what the checks judge.
#pragma once

#include "diag/machine/machine.hpp"
#include "diag/snapshot/recording.hpp"
#include "diag/snapshot/salted_hash.hpp"

namespace gdrkit::diag::snapshot {

/// `view` is what was recorded: its variables tell who the user is.
void redact(const MachineView& view, const SaltedHash::Salt& salt, Recording* recording);

}  // namespace gdrkit::diag::snapshot
