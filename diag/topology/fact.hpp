// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Fact: a value that was read from a machine, with the outcome; and the functions that make one from another.
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
  bool operator==(const Fact&) const = default;
};

/// Passes on the outcome of another Fact, for a fact of another type that depends on it. Not for Facts that were found.
template <class T, class From>
[[nodiscard]] Fact<T> pass(const Fact<From>& from) {
  return {from.outcome, {}, from.reason};
}

template <class T>
[[nodiscard]] Fact<T> found(T value) {
  return {Outcome::found, std::move(value), ""};
}

/// Of what every machine has: if it is absent, it could not be read.
template <class T>
[[nodiscard]] Fact<T> required(Fact<T> fact) {
  if (fact.is_absent()) fact.outcome = Outcome::unreadable;
  return fact;
}

}  // namespace gdrkit::diag::topology
