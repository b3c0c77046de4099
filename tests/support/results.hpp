// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a Result says, for assertions.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/result.hpp"

namespace gdrkit::tests {

/// The error's text; "" for success.
template <class T>
[[nodiscard]] std::string text_of(const base::Result<T>& result) {
  return result ? "" : result.error().text();
}

/// For EXPECT_TRUE, which prints the error's text where the call failed.
template <class T>
[[nodiscard]] testing::AssertionResult succeeded(const base::Result<T>& result) {
  if (result) return testing::AssertionSuccess();
  return testing::AssertionFailure() << text_of(result);
}

}  // namespace gdrkit::tests
