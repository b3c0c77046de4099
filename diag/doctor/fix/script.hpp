// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Script: the remedies of an examination as a commented POSIX shell script, for root to read and run.
#pragma once

#include <string>

#include "diag/doctor/examination.hpp"

namespace gdrkit::diag::doctor {

/// Covers every warn and fail. The script refuses to run on a host whose name differs from `machine`'s, if that is
/// known.
[[nodiscard]] std::string write_script(const Examination& examination, const Machine& machine);

}  // namespace gdrkit::diag::doctor
