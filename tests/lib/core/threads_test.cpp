// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Concurrent calls: which one succeeds, which ones wait, and that no objects are left.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <shared_mutex>
#include <thread>

#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::core {
namespace {

using namespace std::chrono_literals;
using tests::any_type;
using tests::errno_of;
using tests::run_together;
using tests::scripted_device_start;
using tests::scripted_page_bytes;

/// Counts how often each errno was returned.
class Tally {
 public:
  void add(int errno_value) { ++counts_.at(static_cast<std::size_t>(errno_value)); }
  int of(int errno_value) const { return counts_.at(static_cast<std::size_t>(errno_value)); }

 private:
  std::array<std::atomic<int>, 140> counts_{};
};

bool wait_until(const std::function<bool()>& is_true) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class Threads : public tests::OnScriptedBackend {};

TEST_F(Threads, OneOfManyUnpinsSucceeds) {
  for (int round = 0; round < 100; ++round) {
    const Handle handle = mapped_pin();
    Tally tally;
    run_together(4, [&](int i) { tally.add(errno_of(unpin(i % 2 == 0 ? context : 0, handle))); });
    ASSERT_EQ(tally.of(0), 1);
    ASSERT_EQ(tally.of(EINVAL), 3);
    ASSERT_EQ(script.pins, 0);
  }
  EXPECT_EQ(script.unpin_calls, 100);
}

TEST_F(Threads, OneOfManyMapsSucceedsAndTheOthersGetEagain) {
  for (int round = 0; round < 100; ++round) {
    const Handle handle = pin();
    Tally tally;
    run_together(4, [&](int) { tally.add(errno_of(map(context, handle, 1, any_type))); });
    ASSERT_EQ(tally.of(0), 1);
    ASSERT_EQ(tally.of(EAGAIN), 3);
    ASSERT_TRUE(unpin(context, handle));
  }
  EXPECT_EQ(script.map_calls, 100);
}

TEST_F(Threads, OneOfManyUnmapsSucceeds) {
  for (int round = 0; round < 100; ++round) {
    const Handle handle = mapped_pin();
    Tally tally;
    run_together(4, [&](int) { tally.add(errno_of(unmap(context, handle))); });
    ASSERT_EQ(tally.of(0), 1);
    ASSERT_EQ(tally.of(EINVAL), 3);
    ASSERT_TRUE(unpin(context, handle));
  }
  EXPECT_EQ(script.unmap_calls, 100);
}

TEST_F(Threads, OneOfManyClosesSucceeds) {
  for (int round = 0; round < 100; ++round) {
    const auto opened = tests::value_or_throw(open());
    ASSERT_TRUE(core::pin(opened, scripted_device_start, 1, {}));
    Tally tally;
    run_together(4, [&](int) { tally.add(errno_of(close(opened))); });
    ASSERT_EQ(tally.of(0), 1);
    ASSERT_EQ(tally.of(EINVAL), 3);
    ASSERT_EQ(script.backends, 1);
  }
  EXPECT_EQ(script.unpin_calls, 100);
}

TEST_F(Threads, ConcurrentMapAndUnpinLeaveNothingMapped) {
  for (int round = 0; round < 200; ++round) {
    const Handle handle = pin();
    Tally tally;
    run_together(2, [&](int i) {
      tally.add(i == 0 ? errno_of(map(context, handle, 1, any_type)) : errno_of(unpin(context, handle)));
    });
    ASSERT_GE(tally.of(0), 1);
    ASSERT_EQ(tally.of(0) + tally.of(EINVAL), 2);
    ASSERT_EQ(script.mappings, 0);
    ASSERT_EQ(script.pins, 0);
  }
}

TEST_F(Threads, CloseDuringOtherCallsLeaksNothing) {
  for (int round = 0; round < 50; ++round) {
    const auto opened = tests::value_or_throw(open());
    Tally tally;
    run_together(4, [&](int i) {
      if (i == 0) {
        for (int spin = round % 10; spin > 0; --spin) std::this_thread::yield();
        tally.add(errno_of(close(opened)));
        return;
      }
      for (int left_behind = 0;; ++left_behind) {
        const base::Result<Handle> handle = core::pin(opened, scripted_device_start, 1, {});
        if (!handle) {
          tally.add(errno_of(handle));
          return;
        }
        (void)map(opened, *handle, 1, any_type);
        if (i != 1 || left_behind > 50) (void)unpin(opened, *handle);
      }
    });
    ASSERT_EQ(tally.of(0), 1);
    ASSERT_EQ(tally.of(EINVAL), 3);
    ASSERT_EQ(script.backends, 1);
    ASSERT_EQ(script.pins, 0);
    ASSERT_EQ(script.mappings, 0);
  }
}

TEST_F(Threads, SlowCallsOnDifferentPinsRunConcurrently) {
  const Handle handles[] = {pin(0), pin(scripted_page_bytes)};
  std::atomic<int> inside{0};
  std::atomic<int> overlapped{0};
  script.on_map = [&] {
    ++inside;
    if (wait_until([&] { return inside == 2; })) ++overlapped;
  };
  run_together(2, [&](int i) { EXPECT_TRUE(map(context, handles[i], 1, any_type)); });
  EXPECT_EQ(overlapped, 2);

  inside = 0;
  script.on_pin = script.on_map;
  run_together(2, [&](int) { EXPECT_TRUE(core::pin(context, scripted_device_start, 1, {})); });
  EXPECT_EQ(overlapped, 4);
}

TEST_F(Threads, CallsOnOnePinAreSerialized) {
  const Handle handle = pin();
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  const auto enter_and_leave = [&] {
    if (++inside != 1) ++overlaps;
    std::this_thread::yield();
    --inside;
  };
  script.on_map = enter_and_leave;
  script.on_unmap = enter_and_leave;
  run_together(4, [&](int) {
    for (int round = 0; round < 200; ++round) {
      (void)map(context, handle, 1, any_type);
      (void)unmap(context, handle);
    }
  });
  EXPECT_EQ(overlaps, 0);
  EXPECT_GT(script.map_calls, 200);
}

TEST_F(Threads, CloseWaitsForRunningCallsAndRejectsNewOnes) {
  const Handle handle = pin();
  std::atomic<bool> is_mapping{false};
  std::atomic<bool> may_continue{false};
  script.on_map = [&] {
    is_mapping = true;
    wait_until([&] { return may_continue.load(); });
  };
  std::thread mapper([&] { EXPECT_TRUE(map(context, handle, 1, any_type)); });
  EXPECT_TRUE(wait_until([&] { return is_mapping.load(); }));
  std::atomic<bool> is_closed{false};
  std::thread closer([&] {
    EXPECT_TRUE(close(context));
    is_closed = true;
  });
  // close() rejects new calls as soon as it has started, even while it waits.
  EXPECT_TRUE(wait_until([&] { return errno_of(context_info(context)) == EINVAL; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(is_closed);
  may_continue = true;
  mapper.join();
  closer.join();
  EXPECT_EQ(script.mappings, 0);
  context = 0;
}

/// Handles that all threads use concurrently, in any state: 0, live, stale.
struct Shared {
  std::array<std::atomic<Handle>, 2> contexts{};
  std::array<std::atomic<Handle>, 6> pins{};
  /// The only rule for callers: do not unmap, unpin or close a mapping while a thread copies through it.
  std::shared_mutex copies;
  std::atomic<long> copied{0};
  std::atomic<long> wrong{0};
};

class Stress : public Threads {
 protected:
  void copy(int thread, Handle handle, std::uint8_t value) {
    const std::shared_lock rule(shared.copies);
    std::array<std::uint8_t, 64> source{};
    source.fill(value);
    std::array<std::uint8_t, 64> target{};
    // Each thread has its own line on each page, so it must read the bytes that it wrote.
    const auto offset = static_cast<std::size_t>(thread) * 64;
    const int wrote = write(handle, offset, source.data(), source.size());
    const int read_back = read(handle, offset, target.data(), target.size());
    if (wrote != 0 || read_back != 0) {
      if (wrote != EINVAL && wrote != 0) ++shared.wrong;
      if (read_back != EINVAL && read_back != 0) ++shared.wrong;
      return;
    }
    ++shared.copied;
    if (source != target) ++shared.wrong;
  }

  void expect_one_of(int errno_value, std::initializer_list<int> expected) {
    for (const int value : expected) {
      if (value == errno_value) return;
    }
    ++shared.wrong;
  }

  void step(int thread, std::mt19937& random) {
    std::atomic<Handle>& context_place = shared.contexts[random() % shared.contexts.size()];
    std::atomic<Handle>& pin_place = shared.pins[random() % shared.pins.size()];
    const Handle some_context = context_place;
    const Handle some_pin = pin_place;
    const auto action = static_cast<unsigned>(random() % 100);
    if (action < 40) {
      copy(thread, some_pin, static_cast<std::uint8_t>(random()));
    } else if (action < 55) {
      const std::uint64_t page = random() % 4 * scripted_page_bytes;
      const base::Result<Handle> handle =
          core::pin(some_context, scripted_device_start + page, scripted_page_bytes, {});
      expect_one_of(errno_of(handle), {0, EINVAL});
      if (handle) pin_place = *handle;
    } else if (action < 75) {
      expect_one_of(errno_of(map(std::nullopt, some_pin, scripted_page_bytes, any_type)), {0, EINVAL, EAGAIN});
    } else if (action < 85) {
      const std::unique_lock rule(shared.copies);
      expect_one_of(errno_of(unmap(std::nullopt, some_pin)), {0, EINVAL});
    } else if (action < 92) {
      const std::unique_lock rule(shared.copies);
      expect_one_of(errno_of(unpin(std::nullopt, some_pin)), {0, EINVAL});
    } else if (action < 97) {
      expect_one_of(errno_of(pin_info(some_context, some_pin)), {0, EINVAL});
      expect_one_of(errno_of(is_invalidated(std::nullopt, some_pin)), {0, EINVAL});
      const std::optional<PinInfo> summary = pin_summary(some_context, some_pin);
      if (summary) expect_one_of(summary->page_bytes == scripted_page_bytes ? 0 : EIO, {0});
      expect_one_of(errno_of(context_info(some_context)), {0, EINVAL});
    } else {
      const std::unique_lock rule(shared.copies);
      expect_one_of(errno_of(close(some_context)), {0, EINVAL});
      const base::Result<Handle> opened = open();
      expect_one_of(errno_of(opened), {0});
      Handle expected = some_context;
      if (!context_place.compare_exchange_strong(expected, *opened)) expect_one_of(errno_of(close(*opened)), {0});
    }
  }

  Shared shared;
};

TEST_F(Stress, AllCallsRunConcurrentlyOnSharedHandles) {
  for (std::atomic<Handle>& place : shared.contexts) place = *open();
  run_together(8, [this](int thread) {
    std::mt19937 random(static_cast<unsigned>(thread) + 1);
    for (int i = 0; i < 40000; ++i) step(thread, random);
  });
  EXPECT_EQ(shared.wrong, 0);
  EXPECT_GT(shared.copied, 5000);
  for (std::atomic<Handle>& place : shared.contexts) EXPECT_TRUE(close(place));
}

}  // namespace
}  // namespace gdrkit::core
