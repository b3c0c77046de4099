// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What a forked child can and cannot do with inherited objects, and what the parent keeps.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "driver/emulated_memory.hpp"
#include "lib/core/context_fixture.hpp"
#include "support/forked_child.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

// The C library's function behind pthread_atfork, which this program replaces below.
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library);
extern "C" void* __dso_handle;

namespace {
bool is_atfork_failing = false;
}

extern "C" int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  return is_atfork_failing ? ENOMEM : __register_atfork(prepare, parent, child, &__dso_handle);
}

// In a forked child: prints the failed condition and returns from the child's part of the test.
#define EXPECT_IN_CHILD(condition)                                        \
  do {                                                                    \
    if (!(condition)) {                                                   \
      std::fprintf(stderr, "child, line %d: %s\n", __LINE__, #condition); \
      return 1;                                                           \
    }                                                                     \
  } while (false)

namespace gdrkit::core {
namespace {

using namespace std::chrono_literals;
using tests::any_type;
using tests::ChildEnd;
using tests::errno_of;
using tests::run_in_child;
using tests::scripted_device_start;
using tests::scripted_page_bytes;
using Clock = std::chrono::steady_clock;

/// The application's fork handlers. They are registered before the library's, so their prepare runs after the
/// library's.
struct ApplicationHandlers {
  std::function<void()> prepare = [] {};
  std::function<void()> parent = [] {};
};
ApplicationHandlers application;

/// Before main: registers the handlers above, and opens a context while the C library has no memory for handlers.
const int errno_without_handlers = [] {
  (void)pthread_atfork([] { application.prepare(); }, [] { application.parent(); }, nullptr);
  tests::Script script;
  is_atfork_failing = true;
  const base::Result<Handle> failed = open_with(std::make_unique<tests::ScriptedBackend>(script), {});
  is_atfork_failing = false;
  return errno_of(failed);
}();

class Fork : public tests::OnScriptedBackend {
 protected:
  void TearDown() override {
    application = {};
    tests::OnScriptedBackend::TearDown();
  }

  /// In a child: its own context supports every operation.
  int use_new_context() {
    const base::Result<Handle> opened = open();
    EXPECT_IN_CHILD(opened);
    const base::Result<Handle> handle = core::pin(*opened, scripted_device_start, 100, {});
    EXPECT_IN_CHILD(handle);
    EXPECT_IN_CHILD(map(*opened, *handle, scripted_page_bytes, any_type));
    const std::uint8_t source[] = {1, 2, 3};
    std::uint8_t target[3] = {};
    EXPECT_IN_CHILD(write(*handle, 1, source, 3) == 0);
    EXPECT_IN_CHILD(read(*handle, 1, target, 3) == 0);
    EXPECT_IN_CHILD(std::memcmp(source, target, 3) == 0);
    EXPECT_IN_CHILD(unmap(*opened, *handle));
    EXPECT_IN_CHILD(unpin(*opened, *handle));
    EXPECT_IN_CHILD(close(*opened));
    return 0;
  }

  int expect_inherited_is_invalid(Handle mapped, Handle unmapped) {
    std::uint8_t byte = 77;
    EXPECT_IN_CHILD(write(mapped, 0, &byte, 1) == EINVAL);
    EXPECT_IN_CHILD(read(mapped, 0, &byte, 1) == EINVAL);
    EXPECT_IN_CHILD(copy_to_mapping(mapped, script.device, &byte, 1) == EINVAL);
    EXPECT_IN_CHILD(copy_from_mapping(mapped, &byte, script.device, 1) == EINVAL);
    EXPECT_IN_CHILD(errno_of(context_info(context)) == EACCES);
    EXPECT_IN_CHILD(errno_of(core::pin(context, scripted_device_start, 1, {})) == EACCES);
    EXPECT_IN_CHILD(errno_of(map(context, unmapped, 1, any_type)) == EACCES);
    EXPECT_IN_CHILD(errno_of(pin_info(context, mapped)) == EACCES);
    EXPECT_IN_CHILD(!pin_summary(context, mapped) && !pin_summary(context, unmapped));
    EXPECT_IN_CHILD(errno_of(is_invalidated(std::nullopt, mapped)) == EACCES);
    EXPECT_IN_CHILD(errno_of(unmap(context, mapped)) == EACCES);
    EXPECT_IN_CHILD(errno_of(unpin(std::nullopt, unmapped)) == EACCES);
    EXPECT_IN_CHILD(errno_of(close(context)) == EACCES);
    EXPECT_IN_CHILD(script.unmap_calls == 0 && script.unpin_calls == 0 && script.pin_calls == 2 &&
                    script.map_calls == 1);
    return 0;
  }
};

TEST_F(Fork, InheritedHandlesAreInvalidInTheChildWithoutBackendCalls) {
  const Handle mapped = mapped_pin(0);
  const Handle unmapped = pin(scripted_page_bytes);
  const ChildEnd end = run_in_child([&] {
    EXPECT_IN_CHILD(script.abandoned_pins == 2);
    EXPECT_IN_CHILD(script.abandoned_backends == 1);
    return expect_inherited_is_invalid(mapped, unmapped);
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(script.abandoned_pins, 0);
  std::uint8_t byte = 5;
  EXPECT_EQ(write(mapped, 0, &byte, 1), 0);
  EXPECT_TRUE(map(context, unmapped, 1, any_type));
  EXPECT_EQ(script.device[0], 5);
}

TEST_F(Fork, InheritedBuffersAreInvalidInTheChildWithoutBackendCalls) {
  const auto buffer = tests::value_or_throw(allocate_buffer(context, 0, 4096));
  const ChildEnd end = run_in_child([&] {
    std::uint8_t byte = 77;
    EXPECT_IN_CHILD(script.abandoned_buffers == 1);
    EXPECT_IN_CHILD(errno_of(allocate_buffer(context, 0, 4096)) == EACCES);
    EXPECT_IN_CHILD(errno_of(buffer_info(buffer)) == EACCES);
    EXPECT_IN_CHILD(errno_of(copy_to_buffer(buffer, 0, &byte, 1)) == EACCES);
    EXPECT_IN_CHILD(errno_of(copy_from_buffer(buffer, 0, &byte, 1)) == EACCES);
    EXPECT_IN_CHILD(errno_of(free_buffer(buffer)) == EACCES);
    EXPECT_IN_CHILD(errno_of(close(context)) == EACCES);
    EXPECT_IN_CHILD(script.buffer_copy_calls == 0 && script.buffer_free_calls == 0 && script.allocate_calls == 1);
    const base::Result<Handle> opened = open();
    EXPECT_IN_CHILD(opened);
    const base::Result<Handle> own = allocate_buffer(*opened, 0, 64);
    EXPECT_IN_CHILD(own);
    EXPECT_IN_CHILD(copy_to_buffer(*own, 0, &byte, 1));
    EXPECT_IN_CHILD(free_buffer(*own));
    EXPECT_IN_CHILD(close(*opened));
    return 0;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(script.abandoned_buffers, 0);
  EXPECT_TRUE(buffer_info(buffer));
}

TEST_F(Fork, RetriesInstallingHandlersAfterAFailure) {
  EXPECT_EQ(errno_without_handlers, ENOMEM);
  EXPECT_EQ(run_in_child([&] { return errno_of(context_info(context)) == EACCES ? 0 : 1; }).exit_code, 0);
}

TEST_F(Fork, GrandchildCannotUseContextsOfTheChild) {
  mapped_pin();
  const ChildEnd end = run_in_child([&] {
    const base::Result<Handle> opened = open();
    EXPECT_IN_CHILD(opened);
    const base::Result<Handle> handle = core::pin(*opened, scripted_device_start, 1, {});
    EXPECT_IN_CHILD(handle && map(*opened, *handle, 1, any_type));
    const ChildEnd grandchild = run_in_child([&] {
      std::uint8_t byte = 0;
      EXPECT_IN_CHILD(read(*handle, 0, &byte, 1) == EINVAL);
      EXPECT_IN_CHILD(errno_of(unmap(*opened, *handle)) == EACCES);
      // That of the child, and that of the parent, which was abandoned when the child was forked, and only then.
      EXPECT_IN_CHILD(script.abandoned_backends == 2 && script.abandoned_pins == 2);
      return use_new_context();
    });
    EXPECT_IN_CHILD(grandchild.exit_code == 0);
    EXPECT_IN_CHILD(close(*opened));
    return 0;
  });
  EXPECT_EQ(end.exit_code, 0);
}

TEST_F(Fork, ChildCanCloseAnInheritedContextWithoutPinsOnce) {
  const ChildEnd end = run_in_child([&] {
    EXPECT_IN_CHILD(close(context));
    EXPECT_IN_CHILD(errno_of(close(context)) == EINVAL);
    EXPECT_IN_CHILD(errno_of(context_info(context)) == EINVAL);
    EXPECT_IN_CHILD(script.backends == 1);
    return use_new_context();
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_TRUE(context_info(context));
}

TEST_F(Fork, DetectsACloneThatRunsNoHandlers) {
  const Handle handle = mapped_pin();
  const auto child = static_cast<pid_t>(::syscall(SYS_fork));
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_rejected = errno_of(pin_info(context, handle)) == EACCES &&
                             errno_of(unmap(context, handle)) == EACCES && errno_of(unpin(context, handle)) == EACCES &&
                             errno_of(close(context)) == EACCES && script.unpin_calls == 0;
    ::_exit(is_rejected ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// A call that another thread is executing when the process forks.
struct RunningCall {
  const char* name;
  std::function<void()> tests::Script::*hook;
  base::Status (*call)(Handle context, Handle handle);
  int pins_of_child;  ///< that the child must abandon
  int backends_of_child = 1;
};

class ForkDuring : public Fork, public testing::WithParamInterface<RunningCall> {};

TEST_P(ForkDuring, WaitsForTheCall) {
  const Handle handle = mapped_pin();
  if (std::string(GetParam().name) == "map") {
    ASSERT_TRUE(unmap(context, handle));
  }
  std::atomic<bool> has_begun{false};
  std::atomic<bool> has_ended{false};
  script.*GetParam().hook = [&] {
    has_begun = true;
    std::this_thread::sleep_for(200ms);
    has_ended = true;
  };
  std::thread caller([&] { EXPECT_TRUE(GetParam().call(context, handle)); });
  while (!has_begun) std::this_thread::yield();
  const ChildEnd end = run_in_child([&] {
    EXPECT_IN_CHILD(has_ended);
    EXPECT_IN_CHILD(script.abandoned_pins == GetParam().pins_of_child);
    EXPECT_IN_CHILD(script.abandoned_backends == GetParam().backends_of_child);
    EXPECT_IN_CHILD(script.backends == GetParam().backends_of_child);
    return 0;
  });
  EXPECT_EQ(end.exit_code, 0);
  caller.join();
  if (script.backends == 0) context = 0;
}

INSTANTIATE_TEST_SUITE_P(
    EveryBackendCall, ForkDuring,
    testing::Values(
        RunningCall{
            "pin", &tests::Script::on_pin,
            [](Handle context, Handle) { return base::status_of(core::pin(context, scripted_device_start, 1, {})); },
            2},
        RunningCall{"map", &tests::Script::on_map,
                    [](Handle context, Handle handle) { return base::status_of(map(context, handle, 1, any_type)); },
                    1},
        RunningCall{"unmap", &tests::Script::on_unmap,
                    [](Handle context, Handle handle) { return unmap(context, handle); }, 1},
        RunningCall{"unpin", &tests::Script::on_unpin,
                    [](Handle context, Handle handle) { return unpin(context, handle); }, 0},
        RunningCall{"close", &tests::Script::on_close, [](Handle context, Handle) { return close(context); }, 0, 0}),
    [](const testing::TestParamInfo<RunningCall>& test) { return test.param.name; });

tests::Script* script_to_open = nullptr;
std::function<void()> while_opening;

TEST_F(Fork, ChildAbandonsABackendThatWasBeingOpened) {
  std::atomic<bool> has_begun{false};
  const backend::Registration slow = {
      "slow", "scripted, opened slowly", true,
      [](const base::Settings&) noexcept -> base::Result<std::unique_ptr<backend::Backend>> {
        auto opened = std::make_unique<tests::ScriptedBackend>(*script_to_open);
        while_opening();
        return opened;
      }};
  script_to_open = &script;
  while_opening = [&] {
    has_begun = true;
    std::this_thread::sleep_for(200ms);
  };
  std::thread opener([&] {
    const base::Result<Handle> opened = open_first_of({&slow, 1}, {});
    EXPECT_TRUE(opened && close(*opened));
  });
  while (!has_begun) std::this_thread::yield();
  EXPECT_EQ(run_in_child([&] { return script.abandoned_backends == script.backends ? 0 : 1; }).exit_code, 0);
  opener.join();
}

/// A thread calls the library while it holds a mutex that the application's fork handlers lock.
TEST_F(Fork, DoesNotDeadlockWithALockOfTheApplication) {
  std::mutex mutex;
  application.prepare = [&] { mutex.lock(); };
  application.parent = [&] { mutex.unlock(); };
  std::atomic<bool> is_locked{false};
  std::thread caller([&] {
    const std::lock_guard lock(mutex);
    is_locked = true;
    std::this_thread::sleep_for(200ms);
    const base::Result<Handle> opened = open();
    EXPECT_TRUE(opened);
    const base::Result<Handle> handle = core::pin(*opened, scripted_device_start, 1, {});
    EXPECT_TRUE(handle && map(*opened, *handle, 1, any_type));
    EXPECT_TRUE(unpin(*opened, *handle));
    EXPECT_TRUE(close(*opened));
  });
  while (!is_locked) std::this_thread::yield();
  ::alarm(30);  // kills this program if it hangs
  EXPECT_EQ(run_in_child([&] { return use_new_context(); }).exit_code, 0);
  ::alarm(0);
  caller.join();
}

TEST_F(Fork, HandlersOfTheApplicationMayCallTheLibrary) {
  const Handle handle = mapped_pin();
  application.prepare = [&] { EXPECT_TRUE(unpin(context, handle)); };
  Handle again = 0;
  application.parent = [&] { again = mapped_pin(); };
  const Clock::time_point start = Clock::now();
  ::alarm(30);
  EXPECT_EQ(run_in_child([&] { return script.pins == 0 ? use_new_context() : 1; }).exit_code, 0);
  ::alarm(0);
  EXPECT_LT(Clock::now() - start, 1500ms);
  EXPECT_TRUE(unpin(context, again));
}

TEST_F(Fork, DoesNotWaitForTheRegistryAndTheChildHasANewOne) {
  std::atomic<bool> is_locked{false};
  std::atomic<bool> may_continue{false};
  std::thread holder([&] {
    const std::lock_guard lock(registry_mutex);
    is_locked = true;
    while (!may_continue) std::this_thread::sleep_for(1ms);
  });
  while (!is_locked) std::this_thread::yield();
  ::alarm(30);
  EXPECT_EQ(run_in_child([&] { return use_new_context(); }).exit_code, 0);
  ::alarm(0);
  may_continue = true;
  holder.join();
}

TEST_F(Fork, BlocksOtherCallsOnlyBrieflyWhileWaitingForAStuckCall) {
  const Handle stuck = pin();
  const Handle other = mapped_pin(scripted_page_bytes);
  std::atomic<bool> is_mapping{false};
  std::atomic<bool> may_continue{false};
  script.on_map = [&] {
    is_mapping = true;
    while (!may_continue) std::this_thread::sleep_for(1ms);
  };
  std::thread mapper([&] { EXPECT_TRUE(map(context, stuck, 1, any_type)); });
  while (!is_mapping) std::this_thread::yield();
  std::thread forker([&] { EXPECT_EQ(run_in_child([] { return 0; }).exit_code, 0); });
  std::this_thread::sleep_for(200ms);  // less than the 2 s that the fork waits
  const Clock::time_point start = Clock::now();
  EXPECT_TRUE(unmap(context, other));
  EXPECT_LT(Clock::now() - start, 1s);
  may_continue = true;
  forker.join();
  mapper.join();
}

TEST_F(Fork, DoesNotHangOnAMapThatNeverReturns) {
  const Handle handle = pin();
  std::atomic<bool> is_mapping{false};
  std::atomic<bool> may_continue{false};
  script.on_map = [&] {
    is_mapping = true;
    while (!may_continue) std::this_thread::sleep_for(1ms);
  };
  std::thread mapper([&] { EXPECT_TRUE(map(context, handle, 1, any_type)); });
  while (!is_mapping) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  const ChildEnd end = run_in_child([&] {
    script.on_map = [] {};
    EXPECT_IN_CHILD(script.abandoned_pins == 0);  // a call was running: its state may be inconsistent
    EXPECT_IN_CHILD(errno_of(unpin(context, handle)) == EACCES);
    return use_new_context();
  });
  EXPECT_LT(Clock::now() - start, 10s);
  EXPECT_GT(Clock::now() - start, 1s);
  EXPECT_EQ(end.exit_code, 0);
  may_continue = true;
  mapper.join();
  // Maps and forks work in the parent again.
  EXPECT_TRUE(unmap(context, handle));
  EXPECT_TRUE(map(context, handle, 1, any_type));
  EXPECT_EQ(run_in_child([] { return 0; }).exit_code, 0);
}

TEST_F(Fork, ChildDoesNotHangOnLocksThatOtherThreadsHold) {
  const Handle handle = mapped_pin();
  std::atomic<int> inside{0};
  std::atomic<bool> may_continue{false};
  const auto stay = [&] {
    ++inside;
    while (!may_continue) std::this_thread::sleep_for(1ms);
  };
  script.on_pin = stay;
  script.on_unmap = stay;
  std::thread pinner([&] { EXPECT_TRUE(core::pin(context, scripted_device_start, 1, {})); });
  std::thread unmapper([&] { EXPECT_TRUE(unmap(context, handle)); });
  while (inside != 2) std::this_thread::yield();
  // A third thread waits for exclusive access to the context.
  std::thread closer([&] { EXPECT_TRUE(close(context)); });
  while (context_info(context)) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  const ChildEnd end = run_in_child([&] {
    script.on_pin = [] {};
    script.on_unmap = [] {};
    EXPECT_IN_CHILD(script.abandoned_backends == 1);  // its handle is invalid, but its resources are open
    EXPECT_IN_CHILD(errno_of(pin_info(std::nullopt, handle)) == EINVAL);  // the parent was closing its context
    std::uint8_t byte = 0;
    EXPECT_IN_CHILD(read(handle, 0, &byte, 1) == EINVAL);
    return use_new_context();
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_LT(Clock::now() - start, 10s);
  may_continue = true;
  pinner.join();
  unmapper.join();
  closer.join();
  context = 0;
}

TEST_F(Fork, ChildDoesNotReuseAFreeSlotWhoseLockTheParentHeld) {
  const Handle handle = pin();
  PinSlot* const slot = pin_table.find(index_of(handle));
  EXPECT_TRUE(unpin(context, handle));
  std::atomic<bool> is_locked{false};
  std::atomic<bool> may_continue{false};
  // The holder of a stale handle locks its slot briefly in the same way.
  std::thread holder([&] {
    const std::lock_guard lock(slot->mutex);
    is_locked = true;
    while (!may_continue) std::this_thread::sleep_for(1ms);
  });
  while (!is_locked) std::this_thread::yield();
  const ChildEnd end = run_in_child([&] {
    ::alarm(10);
    return use_new_context();
  });
  EXPECT_EQ(end.exit_code, 0);
  may_continue = true;
  holder.join();
}

TEST_F(Fork, ForkDuringMapDoesNotDeadlock) {
  const Handle handle = pin();
  int exit_code = -1;
  script.on_map = [&] { exit_code = run_in_child([] { return 0; }).exit_code; };
  const Clock::time_point start = Clock::now();
  EXPECT_TRUE(map(context, handle, 1, any_type));
  EXPECT_EQ(exit_code, 0);
  EXPECT_LT(Clock::now() - start, 1500ms);
}

TEST_F(Fork, ChildNeverInheritsAMapping) {
  const auto memory = tests::value_or_throw(driver::emulated_allocate(4 << 20, driver::EmulatedKind::device));
  base::Settings settings;
  settings.backend = "emulated";
  const auto opened = tests::value_or_throw(core::open(settings));
  std::atomic<bool> has_ended{false};
  std::atomic<int> rounds{0};
  std::thread mapper([&] {
    const base::Result<Handle> handle = core::pin(opened, memory, 4 << 20, {});
    EXPECT_TRUE(handle);
    while (!has_ended) {
      EXPECT_TRUE(map(opened, *handle, 4 << 20, any_type));
      EXPECT_TRUE(unmap(opened, *handle));
      ++rounds;
    }
  });
  int inherited = 0;
  for (int i = 0; i < 100; ++i) {
    const ChildEnd end = run_in_child([] { return tests::count_process_resources().device_mappings == 0 ? 0 : 1; });
    inherited += end.exit_code != 0;
  }
  has_ended = true;
  mapper.join();
  EXPECT_EQ(inherited, 0);
  EXPECT_GT(rounds, 0);
  EXPECT_TRUE(close(opened));
  EXPECT_TRUE(driver::emulated_free(memory));
}

}  // namespace
}  // namespace gdrkit::core
