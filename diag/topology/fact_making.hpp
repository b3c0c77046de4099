// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// pass() and found(): a Fact from another, or from a value; for those who make facts.
#pragma once

#include <utility>

#include "diag/topology/fact.hpp"

namespace gdrkit::diag::topology {

/// How another look ended, for a fact of another type that depends on it; not for one that was found.
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
