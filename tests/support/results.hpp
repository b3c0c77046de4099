// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Assertions on a Result.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace gdrkit::tests {

/// Returns the error's text; "" for success.
template <class T>
[[nodiscard]] std::string text_of(const base::Result<T>& result) {
  return result ? "" : result.error().text();
}

/// The value of a call that must succeed. Throws the error's text otherwise, which fails the test.
template <class T>
[[nodiscard]] T value_or_throw(base::Result<T> result) {
  if (!result) throw std::runtime_error(text_of(result));
  return std::move(*result);
}

/// For EXPECT_TRUE: prints the error's text if the call failed.
template <class T>
[[nodiscard]] testing::AssertionResult succeeded(const base::Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << text_of(result);
}

/// For EXPECT_TRUE: the call failed with this errno, and its text matches.
template <class T>
[[nodiscard]] testing::AssertionResult failed(const base::Result<T>& result, int errno_value,
                                              const testing::Matcher<std::string>& text = testing::Ne("")) {
  if (result) return testing::AssertionFailure() << "the call succeeded";
  if (result.error().errno_value == errno_value && text.Matches(text_of(result))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "errno " << result.error().errno_value << ", text: " << text_of(result)
                                     << "\nexpected: errno " << errno_value << ", text "
                                     << testing::DescribeMatcher<std::string>(text);
}

}  // namespace gdrkit::tests
