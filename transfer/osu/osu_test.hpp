// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OsuTest: one line of tests.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gdrkit::tools::osu {

enum class Loop : std::uint8_t {
  ping_pong,   ///< a message there and one back
  stream,      ///< windows of messages, each answered by a short one
  exchange,    ///< windows of messages both ways at once
  put_each,    ///< a put and its completion
  put_window,  ///< a window of puts and their completion
  put_both,    ///< the same from both ranks
  get_each,
  get_window,
  fetch_each,  ///< fetch_and_add of 8 bytes
};
enum class Value : std::uint8_t { latency, bandwidth, rate };
enum class Pairs : std::uint8_t { one, many };

struct OsuTest {
  const char* name;
  const char* title;
  Loop loop;
  Value value;
  Pairs pairs;
  std::size_t smallest_bytes;

  [[nodiscard]] bool is_one_sided() const noexcept { return loop >= Loop::put_each; }
  /// Latency there and back is two.
  [[nodiscard]] int messages_per_iteration() const noexcept { return loop == Loop::ping_pong ? 2 : 1; }
  [[nodiscard]] bool has_window() const noexcept { return value != Value::latency; }
  [[nodiscard]] bool is_both_ways() const noexcept { return loop == Loop::exchange || loop == Loop::put_both; }
};

/// In the order of tests.def.
[[nodiscard]] const std::vector<OsuTest>& all_osu_tests();

}  // namespace gdrkit::tools::osu
