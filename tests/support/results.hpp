// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Assertions on a Result.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/result.hpp"

namespace gdrkit::tests {

/// Returns the error's text; "" for success.
template <class T>
[[nodiscard]] std::string text_of(const base::Result<T>& result) {
  return result ? "" : result.error().text();
}

template <class T>
[[nodiscard]] base::Status status_of(const base::Result<T>& result) {
  return result ? base::Status() : base::Status(base::pass(result));
}

/// For EXPECT_TRUE: prints the error's text if the call failed.
template <class T>
[[nodiscard]] testing::AssertionResult succeeded(const base::Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << text_of(result);
}

}  // namespace gdrkit::tests
