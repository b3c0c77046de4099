// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Which calls each loop makes on each side, and that validation finds what an engine does wrong.
#include "transfer/osu/loops.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "platform/device/device.hpp"
#include "transfer/osu/validation.hpp"

namespace gdrkit::tools::osu {
namespace {

/// Notes its calls; `on_call` may do what a peer would.
class NotingEngine : public OsuEngine {
 public:
  [[nodiscard]] std::string version() const override { return "noting"; }
  [[nodiscard]] std::uint64_t source() const override { return reinterpret_cast<std::uint64_t>(source_bytes); }
  [[nodiscard]] std::uint64_t target() const override { return reinterpret_cast<std::uint64_t>(target_bytes); }
  [[nodiscard]] std::string path() const override { return ""; }
  void send(int peer, std::size_t size) override { note("send", peer, size); }
  void receive(int peer, std::size_t size) override { note("receive", peer, size); }
  void send_window(int peer, std::size_t size, int count) override { note("sends", peer, size, count); }
  void receive_window(int peer, std::size_t size, int count) override { note("receives", peer, size, count); }
  void exchange_window(int peer, std::size_t size, int count) override { note("exchanges", peer, size, count); }
  void put(int peer, std::size_t size) override { note("put", peer, size); }
  void get(int peer, std::size_t size) override { note("get", peer, size); }
  void flush(int peer) override { note("flush", peer, 0); }
  void fetch_add(int peer) override { note("fetch_add", peer, 8); }
  void barrier() override {}
  void end() override {}

  std::string calls;
  std::function<void(const std::string&)> on_call = [](const std::string&) {};
  std::uint8_t source_bytes[64] = {};
  std::uint8_t target_bytes[64] = {};

 private:
  void note(const std::string& name, int peer, std::size_t size, int count = 1) {
    calls += name + " " + std::to_string(peer) + " " + std::to_string(size) +
             (count == 1 ? "" : " x" + std::to_string(count)) + "; ";
    on_call(name);
  }
};

const OsuTest& loop_named(const std::string& name) {
  for (const OsuTest& test : all_osu_tests()) {
    if (name == test.name) return test;
  }
  throw std::logic_error(name);
}

std::string calls_of(const std::string& name, bool is_first) {
  NotingEngine engine;
  run_once({&engine, 1, is_first, 'H'}, {&loop_named(name), 32, 1, 0, 3, false});
  return engine.calls;
}

TEST(OsuLoops, EachSideDoesItsPart) {
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

TEST(OsuLoops, WarmUpIsNotTimedAndEachIterationIsWhereAskedFor) {
  NotingEngine engine;
  const Measured measured = run_loop({&engine, 1, true, 'H'}, {&loop_named("put_latency"), 8, 5, 2, 1, true});
  EXPECT_EQ(measured.each_seconds.size(), 5U);
  EXPECT_GT(measured.seconds, 0);
  std::size_t puts = 0;
  for (std::size_t at = engine.calls.find("put"); at != std::string::npos; at = engine.calls.find("put", at + 1))
    ++puts;
  EXPECT_EQ(puts, 7U);
  EXPECT_EQ(run_loop({&engine, 0, false, 'H'}, {&loop_named("put_latency"), 8, 5, 2, 1, false}).seconds, 0);
}

TEST(OsuValidation, FindsBytesThatDidNotComeAndOneTooMany) {
  const auto device = platform::open_emulated_device(0);
  ASSERT_TRUE(device);
  NotingEngine first;
  NotingEngine second;
  const Work work{&loop_named("put_latency"), 32, 1, 0, 1, false};
  // What the first rank puts, as the origin writes it.
  EXPECT_EQ(count_wrong_bytes({&first, 1, true, 'H'}, work, **device), 0U);
  const auto arrives = [&](std::size_t count) {
    // The second rank only waits; its barrier is where the put comes.
    struct PutsInBarrier : NotingEngine {
      std::function<void()> put_now;
      int barriers = 0;
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
}  // namespace gdrkit::tools::osu
