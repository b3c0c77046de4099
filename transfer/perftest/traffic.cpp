// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/traffic.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <thread>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace platform;

constexpr int completions_at_once = 16;
constexpr std::uint64_t receive_flag = 1ULL << 63;
/// About ten microseconds, in which most messages arrive.
constexpr std::uint64_t polls_before_yield = 1024;
/// After a failed request: time to wait for the end of the connection that caused it.
constexpr auto end_message_limit = std::chrono::milliseconds(500);
/// Datagrams that have not arrived by then are lost.
constexpr std::uint64_t yields_before_lost = 200;
constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t most_completions = 1'000'000;  // maximum kept
constexpr std::uint64_t most_peak_messages = 20000;  // perftest's limit

int operation_of(Verb verb, bool has_immediate) {
  switch (verb) {
    case Verb::write: return has_immediate ? verbs_write_with_immediate : verbs_write;
    case Verb::read: return verbs_read;
    case Verb::send: return verbs_send;
    case Verb::atomic: return verbs_fetch_and_add;
  }
  return verbs_write;
}

/// Seconds between consecutive times, divided by the number of messages between them.
std::vector<double> intervals(const std::vector<std::chrono::steady_clock::time_point>& times, double messages) {
  std::vector<double> seconds;
  for (std::size_t i = 1; i < times.size(); ++i) {
    seconds.push_back(std::chrono::duration<double>(times[i] - times[i - 1]).count() / messages);
  }
  return seconds;
}

}  // namespace

/// The times of posts and completions.
struct Traffic::StreamClock {
  bool keeps_times = false;
  Clock::time_point first{};
  Clock::time_point last{};
  std::uint64_t completed = 0;
  // For a run with a duration: between its margins.
  Clock::time_point margin_begin{};
  Clock::time_point margin_end{};
  std::uint64_t before_margin = 0;
  std::uint64_t in_time = 0;
  std::vector<Clock::time_point> posted;
  std::vector<std::pair<std::uint64_t, Clock::time_point>> completions;  ///< with the number of messages by then

  void on_completed(std::uint64_t messages, Clock::time_point now, const Plan& plan) {
    completed += messages;
    if (plan.options->duration_s > 0) {
      if (now > margin_end) return;
      if (now < margin_begin) {
        before_margin = completed;
        first = now;
        last = now;
        return;
      }
    }
    last = now;
    in_time = completed;
    if (completions.size() < most_completions) completions.emplace_back(completed, now);
  }

  /// Seconds per message in equal parts of the counted completions.
  [[nodiscard]] std::vector<double> rounds() const {
    std::vector<double> seconds;
    const std::size_t count = std::min(most_rounds, completions.size());
    std::uint64_t messages = before_margin;
    Clock::time_point begin = first;
    for (std::size_t i = 1; i <= count && completions.size() < most_completions; ++i) {
      const auto& [until, end] = completions[completions.size() * i / count - 1];
      if (until > messages && end > begin) {
        seconds.push_back(std::chrono::duration<double>(end - begin).count() / static_cast<double>(until - messages));
      }
      messages = until;
      begin = end;
    }
    return seconds;
  }

  /// Seconds per message in the fastest interval, from a message's post to a completion.
  [[nodiscard]] double peak() const {
    double least = 0;
    if (!keeps_times) return 0;
    for (const auto& [messages, when] : completions) {
      for (std::uint64_t i = 0; i < messages && i < posted.size(); ++i) {
        const double one = std::chrono::duration<double>(when - posted[i]).count() / static_cast<double>(messages - i);
        if (least == 0 || one < least) least = one;
      }
    }
    return least;
  }
};

Traffic::Traffic(const Plan& plan, Endpoint* endpoint, Memory* memory, Exchange* exchange,
                 std::vector<PairAddress> remotes)
    : plan_(plan), endpoint_(*endpoint), memory_(*memory), exchange_(*exchange), rails_(remotes.size()) {
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    Rail& rail = rails_[pair];
    rail.remote = remotes[pair].address;
    rail.send_element = {memory_.sending(static_cast<int>(pair)), 0, memory_.lkey()};
    rail.receive_element = {memory_.receiving(static_cast<int>(pair)), static_cast<std::uint32_t>(memory_.slot_bytes()),
                            memory_.lkey()};
    rail.send.id = pair;
    rail.send.elements = &rail.send_element;
    rail.send.element_count = rail.receive.element_count = 1;
    rail.send.operation = operation_of(plan.test->verb, plan.options->has_immediate);
    rail.receive.id = pair | receive_flag;
    rail.receive.elements = &rail.receive_element;
    if (plan.is_ud()) {
      rail.send.to.pair = {endpoint_.path(static_cast<int>(pair)), remotes[pair].number, 0};
    } else if (plan.test->verb == Verb::atomic) {
      rail.send.to.word = {rail.remote, 1, 0, remotes[pair].rkey};
    } else {
      rail.send.to.memory = {rail.remote, remotes[pair].rkey};
    }
  }
}

void Traffic::begin(std::size_t size_bytes, std::uint64_t messages_each) {
  step_ = cli::format("%s of %zu bytes", plan_.test->name, size_bytes);
  messages_each_ = messages_each;
  moderation_ = plan_.test->is_latency() ? 1 : plan_.moderation(size_bytes);
  peer_spoke_ = false;
  progressed();
  for (Rail& rail : rails_) {
    rail.send_element.size_bytes = static_cast<std::uint32_t>(size_bytes);
    rail.posted = rail.done = rail.received = rail.since_signal = 0;
    const bool can_inline = !plan_.test->is_fetching() && !plan_.uses_gpu() &&
                            size_bytes <= static_cast<std::size_t>(endpoint_.inline_bytes());
    rail.send.flags = can_inline ? verbs_inline : 0;
  }
}

void Traffic::prepare(std::size_t size_bytes) {
  begin(size_bytes, plan_.options->duration_s > 0 ? endless : static_cast<std::uint64_t>(plan_.iterations));
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    if (plan_.receives()) top_up(pair);
  }
  if (plan_.polls_memory()) {
    const std::vector<std::uint8_t> zeros(size_bytes);
    memory_.write(memory_.receiving(0), zeros.data(), size_bytes);
  }
}

void Traffic::add_request(std::size_t pair, bool is_signaled) {
  Rail& rail = rails_[pair];
  rail.send.flags = (rail.send.flags & ~verbs_signaled) | (is_signaled ? verbs_signaled : 0);
  rail.list.push_back(rail.send);
  ++rail.posted;
  ++rail.since_signal;
  if (plan_.test->verb == Verb::atomic) ++rail.atomics;
  if (!is_signaled) return;
  rail.credits.push_back(rail.since_signal);
  rail.since_signal = 0;
}

void Traffic::post_list(std::size_t pair) {
  std::vector<platform::VerbsSend>& list = rails_[pair].list;
  if (list.empty()) return;
  for (std::size_t i = 1; i < list.size(); ++i) list[i - 1].next = &list[i];
  endpoint_.post(static_cast<int>(pair), list.data());
  list.clear();
}

void Traffic::post(std::size_t pair, bool is_signaled) {
  add_request(pair, is_signaled);
  post_list(pair);
}

void Traffic::top_up(std::size_t pair) {
  Rail& rail = rails_[pair];
  const std::uint64_t missing = messages_each_ - std::min(messages_each_, rail.received);
  const std::uint64_t required =
      std::min<std::uint64_t>(missing, static_cast<std::uint64_t>(plan_.options->receive_depth));
  while (rail.receives_posted < required) {
    endpoint_.post(static_cast<int>(pair), &rail.receive);
    ++rail.receives_posted;
  }
}

void Traffic::fail_request(const platform::VerbsCompletion& completion) {
  // If the peer has ended, report that instead: it is the cause.
  const auto until = Clock::now() + end_message_limit;
  while (Clock::now() < until) {
    (void)exchange_.has_message(step_);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  cli::fail(
      cli::format("gdrkit perftest: %s failed on queue pair %u of %s to %s: %s (status %d, vendor error 0x%x); check "
                  "the MTU (-m) and the GID (-x)",
                  step_.c_str(), completion.pair_number, endpoint_.device().c_str(), exchange_.peer().c_str(),
                  endpoint_.verbs().data->status_text(completion.status), completion.status, completion.vendor_error));
}

void Traffic::take_one(const platform::VerbsCompletion& completion) {
  if (completion.status != 0) fail_request(completion);
  Rail& rail = rails_[completion.id & ~receive_flag];
  if ((completion.id & receive_flag) != 0) {
    ++rail.received;
    --rail.receives_posted;
    return;
  }
  rail.done += rail.credits.front();
  rail.credits.pop_front();
}

std::uint64_t Traffic::take(StreamClock* clock) {
  platform::VerbsCompletion completions[completions_at_once];
  const int count = endpoint_.poll(completions, completions_at_once);
  if (count == 0) {
    idle();
    return 0;
  }
  progressed();
  const bool counts_receives = !plan_.sends();
  std::uint64_t messages = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t pair = completions[i].id & ~receive_flag;
    const bool is_receive = (completions[i].id & receive_flag) != 0;
    const std::uint64_t done = rails_[pair].done;
    take_one(completions[i]);
    const std::uint64_t finished = is_receive ? (counts_receives ? 1 : 0) : rails_[pair].done - done;
    messages += finished;
    if (is_receive) top_up(pair);
    if (clock != nullptr && finished > 0) clock->on_completed(finished, now(), plan_);
  }
  return messages;
}

void Traffic::idle() {
  ++empty_polls_;
  if (empty_polls_ % polls_before_yield != 0) return;
  if (empty_polls_ == polls_before_yield) deadline_ = Clock::now() + std::chrono::seconds(plan_.options->timeout_s);
  ::sched_yield();  // there may be fewer CPUs than ends
  peer_spoke_ = exchange_.has_message(step_) || peer_spoke_;
  if (Clock::now() < deadline_) return;
  cli::fail(cli::format(
      "gdrkit perftest: %s: received nothing from %s for %d s; see the error message of the %s, or increase --timeout",
      step_.c_str(), exchange_.peer().c_str(), plan_.options->timeout_s, plan_.is_server ? "client" : "server"));
}

Traffic::Clock::time_point Traffic::now() const noexcept {
  const double ns = message_clock_.ns(message_clock_.now() - first_tick_);
  return Clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(ns)));
}

bool Traffic::has_stopped(Clock::time_point begin, Clock::time_point now) const noexcept {
  return plan_.options->duration_s > 0 && now - begin >= std::chrono::seconds(plan_.options->duration_s);
}

void Traffic::post_more(StreamClock* clock, bool is_stopping) {
  const auto depth = static_cast<std::uint64_t>(plan_.send_depth);
  const auto moderation = static_cast<std::uint64_t>(moderation_);
  for (std::size_t pair = 0; pair < rails_.size(); ++pair) {
    Rail& rail = rails_[pair];
    // Requests a completion for the remaining messages, so that the end is detected.
    const std::uint64_t limit = is_stopping ? rail.posted + (rail.since_signal > 0 ? 1 : 0) : messages_each_;
    while (rail.posted < limit && rail.posted - rail.done < depth) {
      const bool is_last = rail.posted + 1 == limit;
      if (clock->keeps_times) clock->posted.push_back(now());
      add_request(pair, is_last || rail.since_signal + 1 >= moderation);
      if (rail.list.size() >= static_cast<std::size_t>(plan_.options->list_length)) post_list(pair);
    }
    post_list(pair);
  }
}

bool Traffic::all_sent() const {
  return std::all_of(rails_.begin(), rails_.end(), [this](const Rail& rail) {
    return rail.done == rail.posted && (plan_.options->duration_s > 0 || rail.posted == messages_each_);
  });
}
bool Traffic::all_received() const {
  return std::all_of(rails_.begin(), rails_.end(),
                     [this](const Rail& rail) { return rail.received == messages_each_; });
}
bool Traffic::peer_is_done() const noexcept {
  return peer_spoke_ && empty_polls_ >= polls_before_yield * yields_before_lost;
}

Stream Traffic::stream() {
  const bool sends = plan_.sends();
  const bool receives = plan_.receives();
  if (!sends && !receives) return {};
  StreamClock clock;
  clock.keeps_times = sends && !plan_.options->skips_peak && plan_.options->duration_s == 0 &&
                      messages_each_ * rails_.size() <= most_peak_messages;
  const auto begun = now();
  const auto margin = std::chrono::seconds(plan_.options->margin_s);
  clock.first = clock.last = begun;
  clock.margin_begin = begun + margin;
  clock.margin_end = begun + std::chrono::seconds(plan_.options->duration_s) - margin;
  bool is_stopping = false;
  for (;;) {
    is_stopping = is_stopping || (plan_.options->duration_s > 0 && has_stopped(begun, now()));
    if (sends) post_more(&clock, is_stopping);
    const bool is_first_receive = !sends && clock.completed == 0;
    (void)take(&clock);
    // An end that only receives starts its clock when the first message has arrived.
    if (is_first_receive && clock.completed > 0 && plan_.options->duration_s == 0) clock.first = clock.last;
    const bool has_sent = !sends || (all_sent() && (plan_.options->duration_s == 0 || is_stopping));
    const bool may_miss = plan_.is_ud() || plan_.options->duration_s > 0;
    if (has_sent && (!receives || all_received() || (may_miss && peer_is_done()))) break;
  }
  Stream result;
  result.messages = clock.in_time - clock.before_margin;
  result.seconds = std::chrono::duration<double>(clock.last - clock.first).count();
  result.peak_message_seconds = clock.peak();
  result.round_message_seconds = clock.rounds();
  for (const Rail& rail : rails_) {
    if (receives && messages_each_ != endless) result.lost += messages_each_ - std::min(messages_each_, rail.received);
  }
  return result;
}

std::vector<double> Traffic::latencies(std::size_t size_bytes) {
  switch (plan_.test->verb) {
    // With immediate data, a completion reports the arrival of a message.
    case Verb::write: return plan_.polls_memory() ? write_in_turn(size_bytes) : send_in_turn();
    case Verb::send: return send_in_turn();
    default: return plan_.is_server ? std::vector<double>() : fetch_in_turn();
  }
}

bool Traffic::wait_for_byte(const volatile std::uint8_t* at, std::uint8_t value) {
  progressed();
  while (*at != value) {
    idle();
    if (plan_.options->duration_s > 0 && peer_is_done()) return false;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

void Traffic::wait_until_sent() {
  while (rails_[0].posted - rails_[0].done >= static_cast<std::uint64_t>(plan_.send_depth)) (void)take(nullptr);
}

bool Traffic::wait_for_receive(std::uint64_t count) {
  while (rails_[0].received < count) {
    (void)take(nullptr);
    if ((plan_.options->duration_s > 0 || plan_.is_ud()) && peer_is_done()) return false;
  }
  return true;
}

std::vector<Traffic::Clock::time_point> Traffic::room_for_times() const {
  std::vector<Clock::time_point> times;
  times.reserve(std::min(messages_each_, most_completions) + 1);
  return times;
}

template <class Wait, class Mark>
std::vector<double> Traffic::in_turn(bool leads, Wait wait, Mark mark) {
  std::vector<Clock::time_point> times = room_for_times();
  const auto begun = now();
  auto last = begun;
  bool has_reply = true;
  // The client ends a run with a duration. The server stops when no more messages arrive.
  for (std::uint64_t i = 1; i <= messages_each_ && (plan_.is_server || !has_stopped(begun, last)); ++i) {
    if (!leads && !wait(i)) break;
    last = now();
    times.push_back(last);
    mark(i);
    post(0, true);
    // Before waiting for the reply, which is already in flight.
    wait_until_sent();
    has_reply = !leads || wait(i);
    if (!has_reply) break;
  }
  if (leads && has_reply) times.push_back(now());
  while (rails_[0].done < rails_[0].posted) (void)take(nullptr);
  return intervals(times, 2);
}

/// The last byte of a message is its number. As in perftest, the server's message comes first.
std::vector<double> Traffic::write_in_turn(std::size_t size_bytes) {
  const auto* const arrived = memory_.polled(memory_.receiving(0) + size_bytes - 1);
  const std::uint64_t number_at = memory_.sending(0) + size_bytes - 1;
  return in_turn(
      plan_.is_server, [&](std::uint64_t i) { return wait_for_byte(arrived, static_cast<std::uint8_t>(i)); },
      [&](std::uint64_t i) { memory_.mark(number_at, static_cast<std::uint8_t>(i)); });
}

/// As in perftest, the client's message comes first.
std::vector<double> Traffic::send_in_turn() {
  return in_turn(
      !plan_.is_server, [this](std::uint64_t i) { return wait_for_receive(i); }, [](std::uint64_t) {});
}

std::vector<double> Traffic::fetch_in_turn() {
  std::vector<Clock::time_point> times = room_for_times();
  times.push_back(now());
  const auto begun = times.front();
  for (std::uint64_t i = 1; i <= messages_each_ && !has_stopped(begun, times.back()); ++i) {
    post(0, true);
    while (rails_[0].done < rails_[0].posted) (void)take(nullptr);
    times.push_back(now());
  }
  return intervals(times, 1);
}

}  // namespace gdrkit::transfer::perftest
