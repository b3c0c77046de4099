// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Difference: the findings of two machines that are not the same, check by check and object by object.
#pragma once

#include <string>

#include "diag/doctor/examination.hpp"

namespace gdrkit::diag::doctor {

/// Prints the differences, and writes them as a document gdrkit.doctor-diff/1 if --json is given. Returns ok if there
/// are none, failed otherwise.
[[nodiscard]] cli::ExitCode print_difference(const Examination& left, const Examination& right,
                                             const cli::DocumentOption& json);

}  // namespace gdrkit::diag::doctor
