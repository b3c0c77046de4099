// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Terminal: whether to use colour, and the mark of each state.
#pragma once

#include <string>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {

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

}  // namespace gdrkit::diag::doctor
