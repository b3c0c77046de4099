// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Tests the calls of each loop on each side, and that validation detects errors of an engine.
#include "transfer/osu/osu_loops.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>

#include "platform/device/device.hpp"

namespace gdrkit::transfer::osu {
namespace {

/// Records its calls; `on_call` may act as the peer.
class NotingEngine : public engines::MessageEngine {
 public:
  [[nodiscard]] std::string version() const override { return "noting"; }
  [[nodiscard]] std::uint64_t source() const override { return reinterpret_cast<std::uint64_t>(source_bytes); }
  [[nodiscard]] std::uint64_t target() const override { return reinterpret_cast<std::uint64_t>(target_bytes); }
  [[nodiscard]] std::string path() const override { return ""; }
  void send(int peer, std::size_t size) override { note("send", peer, size); }
  void receive(int peer, std::size_t size) override { note("receive", peer, size); }
  void send_window(int peer, std::size_t size, const engines::Window& window) override {
    note("sends", peer, size, window);
  }
  void receive_window(int peer, std::size_t size, const engines::Window& window) override {
    note("receives", peer, size, window);
  }
  void exchange_window(int peer, std::size_t size, const engines::Window& window) override {
    note("exchanges", peer, size, window);
  }
  void put(int peer, std::size_t size) override { note("put", peer, size); }
  void get(int peer, std::size_t size) override { note("get", peer, size); }
  void flush(int peer) override { note("flush", peer, 0); }
  void fetch_add(int peer) override { note("fetch_add", peer, 8); }
  void run_collective(engines::CollectiveKind kind, std::size_t size) override {
    note("collective", static_cast<int>(kind), size);
  }
  void barrier() override { ++barriers; }
  void end() override {}

  std::string calls;
  int barriers = 0;
  std::function<void(const std::string&)> on_call = [](const std::string&) {};
  std::uint8_t source_bytes[64] = {};
  std::uint8_t target_bytes[64] = {};

 private:
  void note(const std::string& name, int peer, std::size_t size, const engines::Window& window = {}) {
    calls += name + " " + std::to_string(peer) + " " + std::to_string(size) +
             (window.count == 1 ? "" : " x" + std::to_string(window.count)) +
             (window.stride_bytes == 0 ? "" : " +" + std::to_string(window.stride_bytes)) + "; ";
    on_call(name);
  }
};

const OsuTest& loop_named(const std::string& name) {
  for (const OsuTest& test : all_osu_tests) {
    if (name == test.name) return test;
  }
  throw std::logic_error(name);
}

std::string calls_of(const std::string& name, bool is_first) {
  NotingEngine engine;
  run_once({&engine, 1, is_first, 'H'}, {&loop_named(name), 32, 1, 0, 3, false});
  return engine.calls;
}

TEST(OsuLoops, EachSideMakesItsCalls) {
  EXPECT_EQ(calls_of("latency", true), "send 1 32; receive 1 32; ");
  EXPECT_EQ(calls_of("latency", false), "receive 1 32; send 1 32; ");
  EXPECT_EQ(calls_of("bw", true), "sends 1 32 x3; receive 1 4; ");
  EXPECT_EQ(calls_of("bw", false), "receives 1 32 x3; send 1 4; ");
  EXPECT_EQ(calls_of("mbw_mr", false), "receives 1 32 x3; send 1 4; ");
  EXPECT_EQ(calls_of("bibw", true), "exchanges 1 32 x3; ");
  EXPECT_EQ(calls_of("bibw", false), "exchanges 1 32 x3; ");
  EXPECT_EQ(calls_of("put_latency", true), "put 1 32; flush 1 0; ");
  EXPECT_EQ(calls_of("put_latency", false), "");
  EXPECT_EQ(calls_of("put_bw", true), "put 1 32; put 1 32; put 1 32; flush 1 0; ");
  EXPECT_EQ(calls_of("put_bibw", false), "put 1 32; put 1 32; put 1 32; flush 1 0; ");
  EXPECT_EQ(calls_of("get_latency", true), "get 1 32; flush 1 0; ");
  EXPECT_EQ(calls_of("get_bw", true), "get 1 32; get 1 32; get 1 32; flush 1 0; ");
  EXPECT_EQ(calls_of("fop_latency", true), "fetch_add 1 8; ");
}

TEST(OsuLoops, MessagesOfAWindowMayHaveTheirOwnBuffers) {
  for (const auto& [name, calls] :
       {std::pair{"bw", "sends 1 32 x3 +32; receive 1 4; "}, std::pair{"bibw", "exchanges 1 32 x3 +32; "}}) {
    NotingEngine engine;
    Work work{&loop_named(name), 32, 1, 0, 3, false};
    work.has_own_buffers = true;
    run_once({&engine, 1, true, 'H'}, work);
    EXPECT_EQ(engine.calls, calls);
  }
}

TEST(OsuLoops, ExcludesWarmUpAndTimesIterationsOnRequest) {
  NotingEngine engine;
  const Measured measured = run_loop({&engine, 1, true, 'H'}, {&loop_named("put_latency"), 8, 5, 2, 1, true});
  EXPECT_EQ(measured.each_seconds.size(), 5U);
  EXPECT_EQ(measured.round_seconds.size(), 5U);
  EXPECT_GT(measured.seconds, 0);
  EXPECT_EQ(engine.calls.size(), 7 * std::strlen("put 1 8; flush 1 0; "));
  EXPECT_EQ(run_loop({&engine, 0, false, 'H'}, {&loop_named("put_latency"), 8, 5, 2, 1, false}).seconds, 0);
}

TEST(OsuLoops, CallsABarrierAfterEachOtherCollective) {
  using engines::CollectiveKind;
  const std::map<std::string, CollectiveKind> kinds = {
      {"allreduce", CollectiveKind::all_reduce}, {"alltoall", CollectiveKind::alltoall},
      {"bcast", CollectiveKind::broadcast},      {"allgather", CollectiveKind::all_gather},
      {"reduce", CollectiveKind::reduce},        {"gather", CollectiveKind::gather},
      {"scatter", CollectiveKind::scatter},      {"barrier", {}}};
  for (const auto& [name, kind] : kinds) {
    NotingEngine engine;
    const OsuTest& test = loop_named(name);
    const Measured measured = run_loop({&engine, 0, true, 'H', 1, 3}, {&test, 8, 5, 2, 1, true});
    const std::string call = "collective " + std::to_string(static_cast<int>(kind)) + " 8; ";
    std::string expected;
    for (int i = 0; name != "barrier" && i < 7; ++i) expected += call;
    EXPECT_EQ(engine.calls, expected) << name;
    EXPECT_EQ(engine.barriers, 9) << name;
    EXPECT_EQ(measured.each_seconds.size(), 5U) << name;
    EXPECT_EQ(measured.round_seconds.size(), 5U) << name;
    EXPECT_GT(measured.seconds, 0) << name;
  }
}

/// A rank whose collectives call `collect`.
struct CollectiveRank : NotingEngine {
  std::function<void(CollectiveRank&)> collect = [](CollectiveRank&) {};
  void run_collective(engines::CollectiveKind, std::size_t) override { collect(*this); }
};

/// Wrong bytes of rank 1 of 3 (of rank 0 if only that has a result), after flipping one bit of the right result at
/// `spoiled_at`; -1: no bit.
std::uint64_t wrong_of_collective(const std::string& name, std::size_t size, int spoiled_at) {
  const auto device = platform::open_emulated_device(0);
  constexpr int ranks = 3;
  const int own_rank = name == "reduce" || name == "gather" ? 0 : 1;
  CollectiveRank all[ranks];
  const Work work{&loop_named(name), size, 1, 0, 1, false};
  // They collect nothing, but write the data that they send.
  for (int rank = 0; rank < ranks; ++rank) {
    static_cast<void>(count_wrong_bytes({&all[rank], 0, true, 'H', rank, ranks}, work, **device));
  }
  CollectiveRank own;
  own.collect = [&](CollectiveRank& rank) {
    for (std::size_t i = 0; i < size; ++i) {
      unsigned sum = 0;
      for (std::size_t from = 0; from < ranks; ++from) {
        const std::uint8_t* const sent = all[from].source_bytes;
        sum += sent[i];
        if (name == "alltoall") rank.target_bytes[from * size + i] = sent[1 * size + i];
        if (name == "allgather" || name == "gather") rank.target_bytes[from * size + i] = sent[i];
      }
      if (name == "allreduce" || name == "reduce") rank.target_bytes[i] = static_cast<std::uint8_t>(sum);
      if (name == "scatter") rank.target_bytes[i] = all[0].source_bytes[1 * size + i];
      if (name == "bcast") rank.target_bytes[i] = all[0].source_bytes[i];
    }
    if (spoiled_at >= 0) rank.target_bytes[spoiled_at] ^= 1;
  };
  return count_wrong_bytes({&own, 0, true, 'H', own_rank, ranks}, work, **device);
}

TEST(OsuValidation, ChecksTheResultOfEachCollective) {
  for (const std::string name : {"allreduce", "alltoall", "bcast", "allgather", "reduce", "gather", "scatter"}) {
    const int last = 8 * static_cast<int>(loop_named(name).target_parts(3));
    EXPECT_EQ(wrong_of_collective(name, 8, -1), 0U) << name;
    for (int at = 0; at <= last; ++at) EXPECT_EQ(wrong_of_collective(name, 8, at), 1U) << name << " at " << at;
  }
}

TEST(OsuValidation, OnlyRank0HasAResultOfReduceAndGather) {
  const auto device = platform::open_emulated_device(0);
  for (const char* const name : {"reduce", "gather"}) {
    CollectiveRank own;
    EXPECT_EQ(count_wrong_bytes({&own, 0, true, 'H', 1, 3}, {&loop_named(name), 8, 1, 0, 1, false}, **device), 0U);
    EXPECT_EQ(count_wrong_bytes({&own, 0, true, 'H', 0, 3}, {&loop_named(name), 8, 1, 0, 1, false}, **device),
              8U * loop_named(name).target_parts(3));
  }
}

TEST(OsuValidation, ChecksEveryBufferOfAWindowAfterTheWarmUp) {
  const auto device = platform::open_emulated_device(0);
  NotingEngine sender;
  Work work{&loop_named("bw"), 8, 1, 0, 4, false};
  work.has_own_buffers = true;
  work.check_warmup = 3;
  EXPECT_EQ(count_wrong_bytes({&sender, 1, true, 'H'}, work, **device), 0U);
  EXPECT_EQ(sender.calls.size(), 4 * std::strlen("sends 1 8 x4 +8; receive 1 4; "));
  NotingEngine receiver;
  receiver.on_call = [&](const std::string& call) {
    if (call == "receives") std::memcpy(receiver.target_bytes, sender.source_bytes, 24);
  };
  EXPECT_EQ(count_wrong_bytes({&receiver, 0, false, 'H'}, work, **device), 8U);  // the last of four is missing
}

TEST(OsuValidation, FindsMissingBytesAndOneTooMany) {
  const auto device = platform::open_emulated_device(0);
  ASSERT_TRUE(device);
  NotingEngine first;
  NotingEngine second;
  const Work work{&loop_named("put_latency"), 32, 1, 0, 1, false};
  // The first rank's puts, as the origin writes them.
  EXPECT_EQ(count_wrong_bytes({&first, 1, true, 'H'}, work, **device), 0U);
  const auto arrives = [&](std::size_t count) {
    // The second rank only waits; the put arrives in its barrier.
    struct PutsInBarrier : NotingEngine {
      std::function<void()> put_now;
      void barrier() override {
        if (++barriers == 2) put_now();
      }
    } engine;
    engine.put_now = [&] { std::memcpy(engine.target_bytes, first.source_bytes, count); };
    return count_wrong_bytes({&engine, 0, false, 'H'}, work, **device);
  };
  EXPECT_EQ(arrives(32), 0U);
  EXPECT_EQ(arrives(31), 1U);
  EXPECT_EQ(arrives(0), 32U);
  EXPECT_EQ(arrives(33), 1U);
}

}  // namespace
}  // namespace gdrkit::transfer::osu
