// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Redaction: removes the owner's identity from a recording and keeps everything that the checks judge.
#pragma once

#include "diag/machine/machine.hpp"
#include "diag/snapshot/recording.hpp"
#include "diag/snapshot/salted_hash.hpp"

namespace gdrkit::diag::snapshot {

/// `view` is the recorded machine; its variables identify the user.
void redact(const MachineView& view, const SaltedHash::Salt& salt, Recording* recording);

}  // namespace gdrkit::diag::snapshot
