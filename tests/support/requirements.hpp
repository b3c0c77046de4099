// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// GDRKIT_REQUIRE: the skips that are failures on this machine ("gpu,kernel").
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

namespace gdrkit::tests {

/// Returns whether the comma-separated `list` contains the whole word `what`.
[[nodiscard]] inline bool is_listed(std::string_view list, std::string_view what) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == what) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

[[nodiscard]] inline bool is_required(std::string_view what) {
  const char* list = std::getenv("GDRKIT_REQUIRE");
  return list != nullptr && is_listed(list, what);
}

}  // namespace gdrkit::tests

/// Skips the test with the reason, or fails it if GDRKIT_REQUIRE contains `what`. Only in a test's own body or SetUp.
#define GDRKIT_SKIP_OR_FAIL(what, reason)                                                           \
  do {                                                                                              \
    if (::gdrkit::tests::is_required(what)) FAIL() << "required (GDRKIT_REQUIRE), but: " << reason; \
    GTEST_SKIP() << reason;                                                                         \
  } while (false)
