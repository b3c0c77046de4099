// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's human-readable output.
#pragma once

#include "diag/doctor/examination.hpp"
#include "diag/doctor/terminal.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::diag::doctor {

/// Prints counts, then findings by state: failures and warnings with why and remedy, unknown, info, and if is_verbose
/// also ok and skipped. Then prints `verdicts` (nullptr: none) and what to do next.
void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal, bool is_verbose);
/// Counts, failures, warnings, without advice.
void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal);

void print_list();
void print_explanation(const Check& check);

}  // namespace gdrkit::diag::doctor
