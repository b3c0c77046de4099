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

/// For EXPECT_TRUE: the call failed with that errno, and its error message contains `part`.
template <class T>
[[nodiscard]] testing::AssertionResult failed(const base::Result<T>& result, int errno_value,
                                              const std::string& part = "") {
  if (result) return testing::AssertionFailure() << "it succeeded";
  const std::string text = result.error().text();
  if (result.error().errno_value == errno_value && text.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "errno " << result.error().errno_value << ": " << text;
}

}  // namespace gdrkit::tests
