// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fact: what a look at a machine gave, with how it ended.
#pragma once

#include <string>
#include <utility>

namespace gdrkit::topology {

/// How a look at a path ended. A check that does not find says which of the others it was; it never guesses.
enum class Outcome {
  found,
  absent,      ///< the path does not exist
  unreadable,  ///< it exists, or may, but the system refused (reason: which call, which errno)
  malformed,   ///< it was read and is not what it should be: empty, binary, too large, a loop of links
};

template <class T>
struct Fact {
  Outcome outcome = Outcome::absent;
  T value{};
  std::string reason;  ///< one sentence with the path unless found

  [[nodiscard]] bool is_found() const noexcept { return outcome == Outcome::found; }
  [[nodiscard]] bool is_absent() const noexcept { return outcome == Outcome::absent; }
  /// Neither there nor known to be absent: what follows from it is unknown.
  [[nodiscard]] bool is_unknown() const noexcept { return !is_found() && !is_absent(); }
};

}  // namespace gdrkit::topology
