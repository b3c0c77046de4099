// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Terminal: whether to use colour, and the mark of each state.
#pragma once

#include <string>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {

class Terminal {
 public:
  /// Colour when `is_terminal` and TERM is neither "" nor dumb; CLICOLOR_FORCE (not 0) turns it on, NO_COLOR (not "")
  /// off whatever else is set.
  [[nodiscard]] static Terminal from_environment(bool is_terminal);
  explicit Terminal(bool has_colour) : has_colour_(has_colour) {}

  /// Four characters. The meaning does not depend on the colour.
  [[nodiscard]] std::string mark_of(State state) const;

 private:
  bool has_colour_;
};

}  // namespace gdrkit::diag::doctor
