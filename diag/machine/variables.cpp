// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/variables.hpp"

#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag {

topology::Fact<Variables> read_variables(const topology::MachineView& view) {
  const auto content = required(view.bytes("/proc/self/environ", topology::MachineView::text_limit));
  topology::Fact<Variables> variables{content.outcome, {}, content.reason};
  for (const std::string& entry : topology::split(std::string(content.value.begin(), content.value.end()), '\0')) {
    const auto equals = entry.find('=');
    // If a name occurs twice, getenv() returns the first.
    if (equals != std::string::npos) variables.value.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::string local_rank_variable(const Variables& variables) {
  for (const char* name : local_rank_variables) {
    if (variables.count(name) != 0) return name;
  }
  return "";
}

}  // namespace gdrkit::diag
