// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The doctor's outputs for people: text, the differences of two machines, and the shell script of the remedies.
#pragma once

#include <string>

#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/verdicts.hpp"

namespace gdrkit::diag::doctor {

/// Whether to use colour, and the mark of each state.
class Terminal {
 public:
  /// Uses colour if `is_terminal` and TERM is neither "" nor dumb. CLICOLOR_FORCE (not 0) turns it on. NO_COLOR (not
  /// "") turns it off and takes precedence.
  [[nodiscard]] static Terminal from_environment(bool is_terminal);
  explicit Terminal(bool has_colour) : has_colour_(has_colour) {}

  /// Four characters. They are distinct without colour.
  [[nodiscard]] std::string mark_of(State state) const;

 private:
  bool has_colour_;
};

/// Prints counts, then findings by state: failures and warnings with why and remedy, unknown, info, and if is_verbose
/// also ok and skipped. Then prints `verdicts` (nullptr: none) and what to do next.
void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal, bool is_verbose);
/// Counts, failures, warnings, without advice.
void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal);

/// Prints the findings of two machines that are not the same, check by check and object by object, and writes them as a
/// document gdrkit.doctor-diff/1 if --json is given. Returns ok if there are none, failed otherwise.
[[nodiscard]] cli::ExitCode print_difference(const Examination& left, const Examination& right,
                                             const cli::DocumentOption& json);

/// The remedies of every warn and fail as a commented POSIX shell script, for root to read and run. The script refuses
/// to run on a host whose name differs from `machine`'s, if that is known.
[[nodiscard]] std::string write_script(const Examination& examination, const Machine& machine);

void print_list();
void print_explanation(const Check& check);

}  // namespace gdrkit::diag::doctor
