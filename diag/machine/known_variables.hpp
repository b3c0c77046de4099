// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KnownVariables: names that the libraries read, names that they read once, and what a misspelt one may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::diag {

enum class Knowledge {
  known,    ///< a library reads it, or it belongs to something else that is well known
  near_to,  ///< none reads it, and one reads a name that differs in one or two characters, in case, or in blanks
  unknown,  ///< it begins like a library's, and no release that this program knows reads it
  foreign,  ///< it is of no library here
};

struct NameVerdict {
  Knowledge knowledge = Knowledge::foreign;
  std::string meant;  ///< of near_to
};

/// UCX makes its names of a transport and a field, so a name of it is known unless it is near to one of its general
/// ones.
[[nodiscard]] NameVerdict judge_name(const std::string& name);

/// A name that current releases ignore or discourage.
struct RetiredVariable {
  const char* name;   ///< with a final '*': the start of names
  const char* value;  ///< retired only with this value; "": with any
  const char* fate;   ///< "was removed in NCCL 2.4"
  const char* successor;
};
[[nodiscard]] const std::vector<RetiredVariable>& retired_variables();

/// Insertions, deletions and exchanges of one character that make `one` of `other`; `limit` + 1 when there are more.
[[nodiscard]] std::size_t edit_distance(const std::string& one, const std::string& other, std::size_t limit);

}  // namespace gdrkit::diag
