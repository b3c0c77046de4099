// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// KnownVariables: names that the libraries read, names that they read in the past, and the probable meaning of a
// misspelt one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gdrkit::diag {

enum class Knowledge {
  known,    ///< a library reads it, or it belongs to other well-known software
  near_to,  ///< no library reads it, but one reads a name that differs in one or two characters, in case, or in blanks
  unknown,  ///< it has a library's prefix, but no known release reads it
  foreign,  ///< it does not belong to a library
};

struct NameVerdict {
  Knowledge knowledge = Knowledge::foreign;
  std::string meant;  ///< of near_to
};

/// UCX builds names from a transport and a field, so a UCX name is known unless it is similar to a general one.
[[nodiscard]] NameVerdict judge_name(const std::string& name);

/// A name that current releases ignore or discourage.
struct RetiredVariable {
  const char* name;   ///< with a final '*': a prefix
  const char* value;  ///< retired only with this value; "": with any value
  const char* fate;   ///< "was removed in NCCL 2.4"
  const char* successor;
};
[[nodiscard]] const std::vector<RetiredVariable>& retired_variables();

/// Insertions, deletions and exchanges of one character that turn `one` into `other`; `limit` + 1 if it takes more.
[[nodiscard]] std::size_t edit_distance(const std::string& one, const std::string& other, std::size_t limit);

}  // namespace gdrkit::diag
