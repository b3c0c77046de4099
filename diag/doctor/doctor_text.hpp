// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's output for people.
#pragma once

#include "diag/doctor/examination.hpp"
#include "diag/doctor/terminal.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::diag::doctor {

/// Counts first, then findings by state: failures, warnings (both with why and remedy), unknown, info, and if
/// is_verbose what is ok and what does not apply. Then `verdicts` (nullptr: none) and what to do next.
void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal, bool is_verbose);
/// Counts, failures, warnings, without advice.
void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal);

void print_list();
void print_explanation(const Check& check);

}  // namespace gdrkit::diag::doctor
