// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OsuTest: one of OSU's tests.
#pragma once

#include <cstddef>
#include <cstdint>

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
  collective,  ///< of all ranks; reductions add bytes, and the root is rank 0
  barrier,     ///< of all ranks
};
enum class Value : std::uint8_t { latency, bandwidth, rate };
enum class Ranks : std::uint8_t { two, pairs, any };

struct OsuTest {
  const char* name;   ///< OSU's without osu_
  const char* title;  ///< %s: for -CUDA
  Loop loop;
  Value value;                 ///< a latency, a bandwidth or both of its columns
  Ranks ranks;                 ///< two, any number of pairs, or any number
  std::size_t smallest_bytes;  ///< of the first row
  engines::CollectiveKind collective = engines::CollectiveKind::all_reduce;  ///< of Loop::collective

  [[nodiscard]] unsigned kind() const noexcept {
    if (loop == Loop::barrier) return engines::family::barrier;
    if (loop == Loop::collective) {
      const bool is_reduce = collective == engines::CollectiveKind::reduce;
      return is_reduce ? engines::family::reduction_to_root : engines::family::collective;
    }
    if (loop == Loop::fetch_each) return engines::family::fetch;
    return loop >= Loop::put_each ? engines::family::one_sided : engines::family::message;
  }
  [[nodiscard]] bool is_one_sided() const noexcept {
    return (kind() & (engines::family::one_sided | engines::family::fetch)) != 0;
  }
  [[nodiscard]] bool is_of_all_ranks() const noexcept { return ranks == Ranks::any; }
  [[nodiscard]] bool has_sizes() const noexcept { return loop != Loop::barrier; }
  /// Returns the line of collectives.def, or nullptr if the loop is not a collective.
  [[nodiscard]] const engines::Collective* collective_line() const {
    return loop == Loop::collective ? &engines::all_collectives()[static_cast<std::size_t>(collective)] : nullptr;
  }
  /// Two for latencies there and back.
  [[nodiscard]] int messages_per_iteration() const noexcept { return loop == Loop::ping_pong ? 2 : 1; }
  [[nodiscard]] bool has_window() const noexcept { return value != Value::latency; }
  [[nodiscard]] bool is_both_ways() const noexcept { return loop == Loop::exchange || loop == Loop::put_both; }
  /// The number of parts of a row's size that a rank sends or receives.
  [[nodiscard]] std::size_t source_parts(int n_ranks) const {
    return collective_line() == nullptr ? 1 : collective_line()->send_count(1, n_ranks);
  }
  [[nodiscard]] std::size_t target_parts(int n_ranks) const {
    return collective_line() == nullptr ? 1 : collective_line()->receive_count(1, n_ranks);
  }
  /// Whether the test has windows of messages, each of which may have its own buffer.
  [[nodiscard]] bool has_message_window() const noexcept { return loop == Loop::stream || loop == Loop::exchange; }
};

constexpr OsuTest of_all_ranks(const char* name, const char* title, engines::CollectiveKind collective) {
  return {name, title, Loop::collective, Value::latency, Ranks::any, 1, collective};
}

inline constexpr OsuTest all_osu_tests[] = {
    {"latency", "OSU MPI%s Latency Test", Loop::ping_pong, Value::latency, Ranks::two, 1},
    {"multi_lat", "OSU MPI%s Multi Latency Test", Loop::ping_pong, Value::latency, Ranks::pairs, 1},
    {"bw", "OSU MPI%s Bandwidth Test", Loop::stream, Value::bandwidth, Ranks::two, 1},
    {"bibw", "OSU MPI%s Bi-Directional Bandwidth Test", Loop::exchange, Value::bandwidth, Ranks::two, 1},
    {"mbw_mr", "OSU MPI%s Multiple Bandwidth / Message Rate Test", Loop::stream, Value::rate, Ranks::pairs, 1},
    {"put_latency", "OSU MPI_Put%s Latency Test", Loop::put_each, Value::latency, Ranks::two, 1},
    {"put_bw", "OSU MPI_Put%s Bandwidth Test", Loop::put_window, Value::bandwidth, Ranks::two, 1},
    {"put_bibw", "OSU MPI_Put%s Bi-directional Bandwidth Test", Loop::put_both, Value::bandwidth, Ranks::two, 1},
    {"get_latency", "OSU MPI_Get%s Latency Test", Loop::get_each, Value::latency, Ranks::two, 1},
    {"get_bw", "OSU MPI_Get%s Bandwidth Test", Loop::get_window, Value::bandwidth, Ranks::two, 1},
    {"fop_latency", "OSU MPI_Fetch_and_op%s latency Test", Loop::fetch_each, Value::latency, Ranks::two, 8},
    of_all_ranks("allreduce", "OSU MPI%s Allreduce Latency Test", engines::CollectiveKind::all_reduce),
    of_all_ranks("alltoall", "OSU MPI%s All-to-All Personalized Exchange Latency Test",
                 engines::CollectiveKind::alltoall),
    of_all_ranks("bcast", "OSU MPI%s Broadcast Latency Test", engines::CollectiveKind::broadcast),
    of_all_ranks("allgather", "OSU MPI%s Allgather Latency Test", engines::CollectiveKind::all_gather),
    of_all_ranks("reduce", "OSU MPI%s Reduce Latency Test", engines::CollectiveKind::reduce),
    of_all_ranks("gather", "OSU MPI%s Gather Latency Test", engines::CollectiveKind::gather),
    of_all_ranks("scatter", "OSU MPI%s Scatter Latency Test", engines::CollectiveKind::scatter),
    {"barrier", "OSU MPI%s Barrier Latency Test", Loop::barrier, Value::latency, Ranks::any, 0},
};

}  // namespace gdrkit::transfer::osu
