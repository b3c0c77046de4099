// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OsuTest: one line of osu_tests.def.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transfer/engines/message_engine.hpp"

namespace gdrkit::transfer::osu {

enum class Loop : std::uint8_t {
  ping_pong,   ///< a message and its reply
  stream,      ///< windows of messages, each followed by a short reply
  exchange,    ///< windows of messages in both directions at once
  put_each,    ///< a put and its completion
  put_window,  ///< a window of puts and their completion
  put_both,    ///< the same from both ranks
  get_each,
  get_window,
  fetch_each,  ///< fetch_and_add of 8 bytes
  all_reduce,  ///< sums of bytes; this and the following run on all ranks
  all_to_all,
  broadcast,  ///< from the source of rank 0 to the targets of the others
  all_gather,
  reduce,   ///< sums of bytes on rank 0
  gather,   ///< to rank 0
  scatter,  ///< from rank 0
  barrier,
};
enum class Value : std::uint8_t { latency, bandwidth, rate };
enum class Ranks : std::uint8_t { two, pairs, any };

struct OsuTest {
  const char* name;
  const char* title;
  Loop loop;
  Value value;
  Ranks ranks;
  std::size_t smallest_bytes;

  [[nodiscard]] unsigned kind() const noexcept {
    if (loop == Loop::barrier) return engines::family::barrier;
    if (loop == Loop::reduce) return engines::family::reduction_to_root;
    if (loop >= Loop::all_reduce) return engines::family::collective;
    if (loop == Loop::fetch_each) return engines::family::fetch;
    return loop >= Loop::put_each ? engines::family::one_sided : engines::family::message;
  }
  [[nodiscard]] bool is_one_sided() const noexcept {
    return (kind() & (engines::family::one_sided | engines::family::fetch)) != 0;
  }
  [[nodiscard]] bool is_of_all_ranks() const noexcept { return ranks == Ranks::any; }
  [[nodiscard]] bool has_sizes() const noexcept { return loop != Loop::barrier; }
  /// For tests of all ranks except the barrier.
  [[nodiscard]] engines::CollectiveKind collective() const noexcept {
    switch (loop) {
      case Loop::all_to_all: return engines::CollectiveKind::alltoall;
      case Loop::broadcast: return engines::CollectiveKind::broadcast;
      case Loop::all_gather: return engines::CollectiveKind::all_gather;
      case Loop::reduce: return engines::CollectiveKind::reduce;
      case Loop::gather: return engines::CollectiveKind::gather;
      case Loop::scatter: return engines::CollectiveKind::scatter;
      default: return engines::CollectiveKind::all_reduce;
    }
  }
  /// Two for latencies there and back.
  [[nodiscard]] int messages_per_iteration() const noexcept { return loop == Loop::ping_pong ? 2 : 1; }
  [[nodiscard]] bool has_window() const noexcept { return value != Value::latency; }
  [[nodiscard]] bool is_both_ways() const noexcept { return loop == Loop::exchange || loop == Loop::put_both; }
  /// The number of parts of a row's size that a rank sends or receives.
  [[nodiscard]] std::size_t source_parts(int n_ranks) const noexcept {
    return loop == Loop::all_to_all || loop == Loop::scatter ? static_cast<std::size_t>(n_ranks) : 1;
  }
  [[nodiscard]] std::size_t target_parts(int n_ranks) const noexcept {
    const bool is_of_all = loop == Loop::all_to_all || loop == Loop::all_gather || loop == Loop::gather;
    return is_of_all ? static_cast<std::size_t>(n_ranks) : 1;
  }
  /// Whether the test has windows of messages, each of which may have its own buffer.
  [[nodiscard]] bool has_message_window() const noexcept { return loop == Loop::stream || loop == Loop::exchange; }
};

/// In the order of osu_tests.def.
[[nodiscard]] const std::vector<OsuTest>& all_osu_tests();

}  // namespace gdrkit::transfer::osu
