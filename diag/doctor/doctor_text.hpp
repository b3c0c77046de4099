// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's output for people.
#pragma once

#include "diag/doctor/examination.hpp"
#include "diag/doctor/terminal.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::tools::doctor {

/// `verdicts` may be nullptr: then there are none. Every finding; what repeats itself for other objects is folded, why
/// and remedy follow warnings and failures.
void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal);
/// Failures, then warnings, one line each.
void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal);

void print_list();
/// Throws Failure(usage) when no check is called so.
void print_explanation(const std::string& id);

}  // namespace gdrkit::tools::doctor
