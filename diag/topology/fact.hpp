// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fact: a value that was read from a machine, with the outcome.
#pragma once

#include <string>
#include <utility>

namespace gdrkit::diag::topology {

/// How reading a path ended. A check without the value reports which of the others it was; it never guesses.
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

}  // namespace gdrkit::diag::topology
