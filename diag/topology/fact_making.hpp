// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// pass() and found(): construct a Fact from another Fact or from a value.
#pragma once

#include <utility>

#include "diag/topology/fact.hpp"

namespace gdrkit::diag::topology {

/// Passes on the outcome of another Fact, for a fact of another type that depends on it. Not for Facts that were found.
template <class T, class From>
[[nodiscard]] Fact<T> pass(const Fact<From>& from) {
  Fact<T> fact;
  fact.outcome = from.outcome;
  fact.reason = from.reason;
  return fact;
}

template <class T>
[[nodiscard]] Fact<T> found(T value) {
  Fact<T> fact;
  fact.outcome = Outcome::found;
  fact.value = std::move(value);
  return fact;
}

}  // namespace gdrkit::diag::topology
