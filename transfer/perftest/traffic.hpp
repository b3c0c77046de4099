// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Traffic: the loops of the tests, written once for all verbs, and the check of the data.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "measure/harness/clock.hpp"
#include "transfer/perftest/memory.hpp"
#include "transfer/perftest/perftest_lines.hpp"

namespace gdrkit::transfer::perftest {

/// The results of one end of a bandwidth test.
struct Stream {
  std::uint64_t messages = 0;  ///< sent, or received by an end that only receives
  double seconds = 0;
  double peak_message_seconds = 0;            ///< of the fastest interval, per message; 0: not measured
  std::vector<double> round_message_seconds;  ///< the same of up to most_rounds equal parts
  std::uint64_t lost = 0;                     ///< datagrams that did not arrive
};

class Traffic {
 public:
  Traffic(const Plan& plan, Endpoint* endpoint, Memory* memory, Exchange* exchange, std::vector<PairAddress> remotes);

  /// Call it before the other end may send: posts receives, and clears the polled bytes.
  void prepare(std::size_t size_bytes);
  /// Call it after prepare(). All functions here throw Failure with the peer's name if the peer has ended or a request
  /// fails.
  [[nodiscard]] Stream stream();
  /// The latency of each message in seconds: as in perftest, from its post to the next one's; for the last one, to its
  /// reply. Empty for an end that only provides its memory.
  [[nodiscard]] std::vector<double> latencies(std::size_t size_bytes);
  /// Call it on both ends of gdrkit at the same time. Returns the number of wrong bytes (atomics: words) at this end.
  [[nodiscard]] std::uint64_t count_wrong(std::size_t size_bytes);

 private:
  using Clock = std::chrono::steady_clock;
  struct Rail {
    platform::VerbsSend send;
    std::vector<platform::VerbsSend> list;  ///< counted as posted, and about to be
    platform::VerbsReceive receive;
    platform::VerbsElement send_element;
    platform::VerbsElement receive_element;
    std::uint64_t remote = 0;
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    std::uint64_t atomics = 0;          ///< since the beginning
    std::uint64_t since_signal = 0;     ///< posted after the last request with a completion
    std::deque<std::uint64_t> credits;  ///< number of messages for each outstanding completion
    std::uint64_t received = 0;
    std::uint64_t receives_posted = 0;  ///< not yet used
  };
  struct StreamClock;

  void begin(std::size_t size_bytes, std::uint64_t messages_each);
  void add_request(std::size_t pair, bool is_signaled);
  void post_list(std::size_t pair);
  void post(std::size_t pair, bool is_signaled);
  void top_up(std::size_t pair);
  /// Takes completions, and adds the number of sends and receives that they cover. Returns 0 if there was none and the
  /// peer is alive.
  std::uint64_t take(StreamClock* clock);
  void take_one(const platform::VerbsCompletion& completion);
  [[noreturn]] void fail_request(const platform::VerbsCompletion& completion);
  /// Nothing has arrived. Yields regularly, checks the peer, and throws after the time limit.
  void idle();
  void progressed() noexcept { empty_polls_ = 0; }
  /// Clock for messages. Time limits use Clock::now() instead; values of this clock may only be compared with each
  /// other.
  [[nodiscard]] Clock::time_point now() const noexcept;
  [[nodiscard]] bool has_stopped(Clock::time_point begin, Clock::time_point now) const noexcept;
  void post_more(StreamClock* clock, bool is_stopping);
  [[nodiscard]] bool all_sent() const;
  [[nodiscard]] bool all_received() const;
  [[nodiscard]] bool peer_is_done() const noexcept;
  /// Messages and replies; the leading side sends the first.
  template <class Wait, class Mark>
  std::vector<double> in_turn(bool leads, Wait wait, Mark mark);
  [[nodiscard]] std::vector<Clock::time_point> room_for_times() const;
  std::vector<double> write_in_turn(std::size_t size_bytes);
  std::vector<double> send_in_turn();
  std::vector<double> fetch_in_turn();
  [[nodiscard]] bool wait_for_byte(const volatile std::uint8_t* at, std::uint8_t value);
  void wait_until_sent();
  [[nodiscard]] bool wait_for_receive(std::uint64_t count);
  void synchronize(const char* step) { (void)exchange_.swap_value(std::uint32_t{0}, step); }
  [[nodiscard]] std::uint64_t count_wrong_words();
  void send_patterns(std::size_t size_bytes);

  const Plan& plan_;
  Endpoint& endpoint_;
  Memory& memory_;
  Exchange& exchange_;
  std::vector<Rail> rails_;
  std::string step_;
  std::uint64_t messages_each_ = 0;
  int moderation_ = 1;
  std::uint64_t empty_polls_ = 0;
  Clock::time_point deadline_;
  /// perftest reads the time-stamp counter. A system call per message would be visible in the latencies by comparison.
  measure::Clock message_clock_{measure::Clock::Counter::any};
  std::uint64_t first_tick_ = message_clock_.now();
  bool peer_spoke_ = false;
};

}  // namespace gdrkit::transfer::perftest
