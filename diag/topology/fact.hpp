// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fact: a value that was read from a machine, with the outcome.
#pragma once

#include <string>
#include <utility>

namespace gdrkit::diag::topology {

/// The result of reading a path. A check without the value reports the outcome and never guesses.
enum class Outcome {
  found,
  absent,      ///< the path does not exist
  unreadable,  ///< it exists or may exist, but reading failed (reason: call and errno)
  malformed,   ///< it was read and is invalid: empty, binary, too large, a loop of links
};

template <class T>
struct Fact {
  Outcome outcome = Outcome::absent;
  T value{};
  std::string reason;  ///< one sentence with the path, unless found

  [[nodiscard]] bool is_found() const noexcept { return outcome == Outcome::found; }
  [[nodiscard]] bool is_absent() const noexcept { return outcome == Outcome::absent; }
  /// Neither found nor known to be absent: everything derived from it is unknown.
  [[nodiscard]] bool is_unknown() const noexcept { return !is_found() && !is_absent(); }
};

}  // namespace gdrkit::diag::topology
