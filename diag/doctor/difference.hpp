// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Difference: the findings of two machines that are not the same, check by check and object by object.
#pragma once

#include <string>

#include "diag/doctor/examination.hpp"

namespace gdrkit::diag::doctor {

/// Prints what differs, and writes it as a document gdrkit.doctor-diff/1 where --json says. ok: nothing; failed:
/// something does.
[[nodiscard]] cli::ExitCode print_difference(const Examination& left, const Examination& right,
                                             const cli::DocumentOption& json);

}  // namespace gdrkit::diag::doctor
