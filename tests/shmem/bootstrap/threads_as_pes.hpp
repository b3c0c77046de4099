// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// PEs as threads of this process, each with a separate exchange.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shmem/bootstrap/exchange.hpp"
#include "support/run_together.hpp"

namespace gdrkit::shmem_impl::tests {

using namespace std::chrono_literals;

/// For what succeeds: a busy machine never needs it. For what must fail by it, tests give a short one.
inline constexpr auto long_limit = 30s;

/// Result of a PE in a test: "" for success, otherwise "ERRNO: text".
template <class Result>
std::string end_of(const Result& result) {
  return result ? "" : std::to_string(result.error().errno_value) + ": " + result.error().text();
}
inline std::string begins_with(int error) { return std::to_string(error) + ": "; }
/// Matches the end of a PE that failed with this errno and a text that contains all of `parts`.
template <class... Parts>
auto failed_with(int error, Parts... parts) {
  return ::testing::AllOf(::testing::StartsWith(begins_with(error)), ::testing::HasSubstr(parts)...);
}

/// Runs `as_pe(pe)` on a thread each, and returns what they returned.
inline std::vector<std::string> run_threads(int n_pes, const std::function<std::string(int pe)>& as_pe) {
  std::vector<std::string> ends(static_cast<std::size_t>(n_pes));
  gdrkit::tests::run_together(n_pes, [&](int pe) { ends[static_cast<std::size_t>(pe)] = as_pe(pe); });
  return ends;
}

/// The same, with one exchange per PE; PEs in `absent` do not take part.
inline std::vector<std::string> run_pes(int n_pes, std::chrono::milliseconds limit,
                                        const std::function<std::string(bootstrap::Exchange& exchange)>& as_pe,
                                        const std::vector<int>& absent = {}) {
  const auto id = bootstrap::make_unique_id();
  if (!id) {
    ADD_FAILURE() << id.error().text();
    return {};
  }
  return run_threads(n_pes, [&](int pe) -> std::string {
    if (std::find(absent.begin(), absent.end(), pe) != absent.end()) return "absent";
    auto exchange = bootstrap::exchange_by_unique_id(*id, pe, n_pes, limit);
    return exchange ? as_pe(**exchange) : end_of(exchange);
  });
}

/// Part i must be 1000 * i + round.
inline std::string gather_and_check(bootstrap::Exchange& exchange, int round, const char* step) {
  const auto all = exchange.gather(1000 * exchange.pe() + round, step);
  if (!all) return end_of(all);
  for (int pe = 0; pe < exchange.n_pes(); ++pe) {
    if ((*all)[static_cast<std::size_t>(pe)] != 1000 * pe + round) return "wrong part " + std::to_string(pe);
  }
  return "";
}

}  // namespace gdrkit::shmem_impl::tests
