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
#include "transfer/perftest/lines.hpp"
#include "transfer/perftest/memory.hpp"

namespace gdrkit::transfer::perftest {

/// What one end measured of a bandwidth.
struct Stream {
  std::uint64_t messages = 0;  ///< sent, or received by an end that only receives
  double seconds = 0;
  double peak_message_seconds = 0;            ///< of the fastest stretch, for one message; 0: not measured
  std::vector<double> round_message_seconds;  ///< the same of up to most_rounds equal parts
  std::uint64_t lost = 0;                     ///< datagrams that did not come
};

class Traffic {
 public:
  Traffic(const Plan& plan, Endpoint* endpoint, Memory* memory, Exchange* exchange, std::vector<PairAddress> remotes);

  /// Before the other end may send: posts receives, and clears what is polled.
  void prepare(std::size_t size_bytes);
  /// After prepare(). All functions here throw Failure with the peer's name when it is gone or a request fails.
  [[nodiscard]] Stream stream();
  /// Of each message, in seconds: as in perftest, from its post to the next one's; of the last, to its answer. An end
  /// that only answers with its memory has none.
  [[nodiscard]] std::vector<double> latencies(std::size_t size_bytes);
  /// Both ends of gdrkit, at the same time. How many bytes at this end (atomics: words) are not what they must be.
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
    std::uint64_t since_signal = 0;     ///< posted after the last that asked for a completion
    std::deque<std::uint64_t> credits;  ///< of each completion that will come: how many messages it stands for
    std::uint64_t received = 0;
    std::uint64_t receives_posted = 0;  ///< not yet used
  };
  struct StreamClock;

  void begin(std::size_t size_bytes, std::uint64_t messages_each);
  void add_request(std::size_t pair, bool is_signaled);
  void post_list(std::size_t pair);
  void post(std::size_t pair, bool is_signaled);
  void top_up(std::size_t pair);
  /// Takes completions; how many sends and receives they stand for. 0 of both: none was there, and the peer lives.
  std::uint64_t take(StreamClock* clock);
  void take_one(const platform::VerbsCompletion& completion);
  [[noreturn]] void fail_request(const platform::VerbsCompletion& completion);
  /// Nothing has come. Now and then lets others run and looks at the peer; throws after the time limit.
  void idle();
  void progressed() noexcept { empty_polls_ = 0; }
  /// For messages, unlike Clock::now(), which time limits are kept by: two of these are only compared with each other.
  [[nodiscard]] Clock::time_point now() const noexcept;
  [[nodiscard]] bool has_stopped(Clock::time_point begin, Clock::time_point now) const noexcept;
  void post_more(StreamClock* clock, bool is_stopping);
  [[nodiscard]] bool all_sent() const;
  [[nodiscard]] bool all_received() const;
  [[nodiscard]] bool peer_is_done() const noexcept;
  /// Messages and answers; who leads sends the first.
  template <class Wait, class Mark>
  std::vector<double> in_turn(bool leads, Wait wait, Mark mark);
  [[nodiscard]] std::vector<Clock::time_point> room_for_times() const;
  std::vector<double> write_in_turn(std::size_t size_bytes);
  std::vector<double> send_in_turn();
  std::vector<double> fetch_in_turn();
  [[nodiscard]] bool wait_for_byte(const volatile std::uint8_t* at, std::uint8_t value);
  void wait_until_sent();
  [[nodiscard]] bool wait_for_receive(std::uint64_t count);
  void meet(const char* step) { (void)exchange_.swap_value(std::uint32_t{0}, step); }
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
  /// perftest reads the time-stamp counter. A system call for each message would show in latencies next to its.
  measure::Clock message_clock_{measure::Clock::Counter::any};
  std::uint64_t first_tick_ = message_clock_.now();
  bool peer_spoke_ = false;
};

}  // namespace gdrkit::transfer::perftest
