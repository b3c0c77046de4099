// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/terminal.hpp"

#include <cstdlib>

namespace gdrkit::diag::doctor {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Terminal Terminal::from_environment(bool is_terminal) {
  if (!variable("NO_COLOR").empty()) return Terminal(false);
  const std::string force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return Terminal(true);
  const std::string kind = variable("TERM");
  return Terminal(is_terminal && !kind.empty() && kind != "dumb");
}

std::string Terminal::mark_of(State state) const {
  constexpr const char* marks[] = {"ok  ", "info", "warn", "FAIL", "skip", "????"};
  constexpr const char* colours[] = {"32", "36", "33", "1;31", "2", "35"};
  const auto index = static_cast<std::size_t>(state);
  if (!has_colour_) return marks[index];
  return std::string("\x1b[") + colours[index] + "m" + marks[index] + "\x1b[0m";
}

}  // namespace gdrkit::diag::doctor
