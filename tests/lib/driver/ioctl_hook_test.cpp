// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The hook records the ioctls of this thread, forwards all others, restores only its own entry, and still works
// afterwards.
#include "driver/ioctl_hook.hpp"
#include "support/results.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdlib>
#include <thread>

namespace gdrkit::driver {
namespace {

constexpr unsigned number = 0xd9;
using Export = int(int, unsigned);
using Observe = void(void*, unsigned, std::vector<ObservedIoctl>*, void (*)(void*), void*);

int passed_by_tracer = 0;
int tracer(int fd, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  ++passed_by_tracer;
  return ::ioctl(fd, request, argument);
}

// Used by `observe_late`, which runs after the destructors of all static C++ objects.
void* late_library = nullptr;
Export* late_call = nullptr;

/// Destructors of the executable's finalization array run after those of its static objects.
[[gnu::destructor]] void observe_late() {
  if (late_library == nullptr) return;
  std::vector<ObservedIoctl> seen;
  {
    const IoctlObserver observer(late_library, number, &seen);
    late_call(-1, number);
  }
  if (seen.size() != 1) _exit(1);
}

/// Parameter: the library that replaces libcuda, either lazily bound or with its import slots in RELRO memory.
class IoctlHook : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    library = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    call = reinterpret_cast<Export*>(dlsym(library, "caller_export"));
    ASSERT_NE(call, nullptr);
    void* copy = dlopen(GDRKIT_HOOK_COPY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(copy, nullptr) << dlerror();
    observe_by_copy = reinterpret_cast<Observe*>(dlsym(copy, "hook_copy_observe"));
    ASSERT_NE(observe_by_copy, nullptr);
    auto slots = tests::value_or_throw(find_import_slots(library, "ioctl"));
    ASSERT_EQ(slots.size(), 1u);
    slot = slots.front();
  }
  std::size_t observed_by_us() {
    std::vector<ObservedIoctl> seen;
    const IoctlObserver observer(library, number, &seen);
    EXPECT_TRUE(tests::succeeded(observer.installed()));
    call(-1, number);
    return seen.size();
  }
  std::size_t observed_by_copy() {
    std::vector<ObservedIoctl> seen;
    observe_by_copy(
        library, number, &seen, [](void* self) { static_cast<IoctlHook*>(self)->call(-1, number); }, this);
    return seen.size();
  }
  void put_into_slot(void* entry) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    auto* start = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(slot.slot) & ~(page - 1));
    ASSERT_EQ(mprotect(start, page, PROT_READ | PROT_WRITE), 0);
    *slot.slot = entry;
  }

  void* library = nullptr;
  Export* call = nullptr;
  Observe* observe_by_copy = nullptr;
  ImportSlot slot{};
};

TEST_P(IoctlHook, RecordsTheBytesAndTheResultOfCallsOfThisThread) {
  std::vector<ObservedIoctl> seen;
  {
    const IoctlObserver observer(library, number, &seen);
    ASSERT_TRUE(observer.installed());
    EXPECT_EQ(call(-1, number), -1);
    EXPECT_EQ(errno, EBADF) << "the call itself must be unchanged";
    call(-1, number + 1);
  }
  ASSERT_EQ(seen.size(), 1u) << "other numbers are not recorded";
  EXPECT_EQ(seen[0].result, -EBADF);
  EXPECT_EQ(seen[0].argument.size(), 64u);
  EXPECT_EQ(seen[0].argument[0], 7);
}

TEST_P(IoctlHook, DoesNotRecordOtherThreads) {
  std::vector<ObservedIoctl> seen;
  const IoctlObserver observer(library, number, &seen);
  std::thread([this] { EXPECT_EQ(call(-1, number), -1); }).join();
  EXPECT_TRUE(seen.empty());
}

TEST_P(IoctlHook, RestoresTheSlot) {
  (void)observed_by_us();
  void* before = *slot.slot;
  EXPECT_EQ(observed_by_us(), 1u);
  EXPECT_EQ(*slot.slot, before);
}

TEST_P(IoctlHook, KeepsTheEntryOfAnotherHookThatReplacedOurs) {
  (void)observed_by_us();
  void* before = *slot.slot;
  std::vector<ObservedIoctl> seen;
  {
    const IoctlObserver observer(library, number, &seen);
    put_into_slot(reinterpret_cast<void*>(&tracer));
  }
  EXPECT_EQ(*slot.slot, reinterpret_cast<void*>(&tracer));
  passed_by_tracer = 0;
  call(-1, number);
  EXPECT_EQ(passed_by_tracer, 1);
  put_into_slot(before);
  EXPECT_EQ(observed_by_us(), 1u) << "after the other hook is removed, ours must record again";
}

TEST_P(IoctlHook, RecordsAfterAnEarlierTracerIsRemoved) {
  (void)observed_by_us();
  void* before = *slot.slot;
  put_into_slot(reinterpret_cast<void*>(&tracer));
  EXPECT_EQ(observed_by_us(), 1u);
  EXPECT_EQ(*slot.slot, reinterpret_cast<void*>(&tracer));
  put_into_slot(before);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(observed_by_us(), 1u) << "round " << round;
}

TEST_P(IoctlHook, OverlappingCopiesRecordWithoutRecursion) {
  std::atomic<int> step{0};
  std::thread ours([&] {
    std::vector<ObservedIoctl> seen;
    const IoctlObserver observer(library, number, &seen);
    step = 1;
    while (step < 2) std::this_thread::yield();
  });
  std::thread theirs([&] {
    while (step < 1) std::this_thread::yield();
    std::vector<ObservedIoctl> seen;
    struct Sync {
      std::atomic<int>& step;
      std::thread& ours;
    } sync{step, ours};
    observe_by_copy(
        library, number, &seen,
        [](void* argument) {
          auto& at = *static_cast<Sync*>(argument);
          at.step = 2;
          at.ours.join();  // ours ends while the other entry is still in the slot
        },
        &sync);
  });
  theirs.join();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(observed_by_us(), 1u) << "round " << round;
    EXPECT_EQ(observed_by_copy(), 1u) << "round " << round;
  }
}

TEST_P(IoctlHook, WorksAfterStaticObjectsAreDestroyed) {
  EXPECT_EXIT(
      {
        (void)observed_by_us();
        late_library = library;
        late_call = call;
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(IoctlHookSlots, RejectsALibraryThatDoesNotImportTheFunction) {
  void* library = dlopen(GDRKIT_LAZY_CALLER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  EXPECT_TRUE(tests::failed(find_import_slots(library, "no_such_function"), EOPNOTSUPP));
}

INSTANTIATE_TEST_SUITE_P(Bindings, IoctlHook, testing::Values(GDRKIT_LAZY_CALLER, GDRKIT_RELRO_CALLER));

}  // namespace
}  // namespace gdrkit::driver
