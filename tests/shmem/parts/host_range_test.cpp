// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Memory of the stack and of brk() is recognised to its last byte, and nothing else.
#include "shmem/parts/host_range.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/forked_child.hpp"

static std::atomic<int> sbrk_calls = 0;

/// Counts calls. This program uses it in place of glibc's function.
extern "C" void* sbrk(std::intptr_t increment) noexcept {
  static const auto next = reinterpret_cast<void* (*)(std::intptr_t)>(::dlsym(RTLD_NEXT, "sbrk"));
  ++sbrk_calls;
  return next(increment);
}

namespace gdrkit::shmem_impl::parts {
namespace {

TEST(ShmemHostRange, OnlyTheStackOfTheCallingThreadIsKnown) {
  // Not a variable: the address sanitizer may place those elsewhere.
  const void* const mine = __builtin_frame_address(0);
  EXPECT_TRUE(is_surely_host(mine, 16));
  bool is_own_known = false;
  bool is_other_known = true;
  std::thread([&] {
    is_own_known = is_surely_host(__builtin_frame_address(0), 16);
    is_other_known = is_surely_host(mine, 16);
  }).join();
  EXPECT_TRUE(is_own_known);
  EXPECT_FALSE(is_other_known);
}

TEST(ShmemHostRange, RangesPastTheStackAreUnknown) {
  char mine[64] = {};
  EXPECT_FALSE(is_surely_host(mine, SIZE_MAX));
  EXPECT_FALSE(is_surely_host(mine, std::size_t{1} << 40));
}

TEST(ShmemHostRange, TheHeapOfBrkIsHostMemoryUpToItsEnd) {
  constexpr std::size_t size_bytes = 4096;
  auto* const start = static_cast<char*>(::sbrk(size_bytes));
  ASSERT_NE(start, reinterpret_cast<char*>(-1));
  EXPECT_TRUE(is_surely_host(start, size_bytes));
  EXPECT_TRUE(is_surely_host(start + size_bytes - 1, 1));
  const auto* const end = static_cast<const char*>(::sbrk(0));
  EXPECT_FALSE(is_surely_host(end, 1));
  EXPECT_FALSE(is_surely_host(end - 1, 2));
}

char variable[100] = {1};
char zeroed[100];
const char constant[100] = {1};

TEST(ShmemHostRange, OnlyVariablesOfTheProgramAreKnown) {
  EXPECT_TRUE(is_surely_host(variable, sizeof variable));
  EXPECT_TRUE(is_surely_host(zeroed, sizeof zeroed));
  EXPECT_FALSE(is_surely_host(variable, SIZE_MAX));
  EXPECT_FALSE(is_surely_host(constant, 1));
  EXPECT_FALSE(is_surely_host(reinterpret_cast<const void*>(&::getpid), 1));
}

TEST(ShmemHostRange, MappedMemoryIsUnknown) {
  constexpr std::size_t size_bytes = 1 << 20;
  void* const mapped = ::mmap(nullptr, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_FALSE(is_surely_host(mapped, 8));
  ::munmap(mapped, size_bytes);
  EXPECT_FALSE(is_surely_host(nullptr, 8));
}

TEST(ShmemHostRange, SmallBlocksOfMallocAreHostMemoryOnTheMainThread) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  const std::vector<char> message(1024);
  EXPECT_TRUE(is_surely_host(message.data(), message.size()));
  bool is_main_heap_known = false;
  std::thread([&] { is_main_heap_known = is_surely_host(message.data(), message.size()); }).join();
  EXPECT_TRUE(is_main_heap_known);
}

TEST(ShmemHostRange, ReportsTheSameInAForkedChild) {
  auto* const heap = static_cast<char*>(::sbrk(4096));
  ASSERT_NE(heap, reinterpret_cast<char*>(-1));
  const auto has_expected_results = [&] {
    return is_surely_host(__builtin_frame_address(0), 16) && is_surely_host(heap, 4096) &&
           is_surely_host(variable, sizeof variable) && !is_surely_host(reinterpret_cast<const void*>(&::getpid), 1);
  };
  EXPECT_TRUE(has_expected_results());
  // Also for a thread without an earlier query, whose stack is the only one in the child.
  for (const bool is_other_thread : {false, true}) {
    tests::ChildEnd end;
    const auto fork_and_query = [&] { end = tests::run_in_child([&] { return has_expected_results() ? 0 : 1; }); };
    is_other_thread ? std::thread(fork_and_query).join() : fork_and_query();
    EXPECT_EQ(end.exit_code, 0) << is_other_thread;
  }
}

TEST(ShmemHostRange, QueriesDoNotCallSbrk) {
  auto* const heap = static_cast<char*>(::sbrk(4096));
  ASSERT_NE(heap, reinterpret_cast<char*>(-1));
  const int before = sbrk_calls;
  EXPECT_TRUE(is_surely_host(heap, 4096));
  EXPECT_FALSE(is_surely_host(nullptr, 8));
  EXPECT_EQ(sbrk_calls, before) << "with UCX, sbrk(0) in another thread than malloc's may shrink the heap";
}

/// The range of freed brk() memory may be mapped for other purposes.
TEST(ShmemHostRange, TheHeapOfBrkShrinks) {
  ASSERT_FALSE(is_surely_host(nullptr, 8));  // the first call may enlarge malloc's heap
  auto* const start = static_cast<char*>(::sbrk(4096));
  ASSERT_NE(start, reinterpret_cast<char*>(-1));
  ASSERT_TRUE(is_surely_host(start, 4096));
  ASSERT_NE(::sbrk(-4096), reinterpret_cast<void*>(-1));
  EXPECT_FALSE(is_surely_host(start, 8));
}

struct Fiber {
  ucontext_t own{};
  ucontext_t caller{};
  const void* between = nullptr;
  bool is_host = true;
};
Fiber* fiber = nullptr;

// Its frame is below the thread's stack, and `between` lies between both.
TEST(ShmemHostRange, FiberDoesNotExtendTheStackOfItsThread) {
  constexpr std::size_t size_bytes = 1 << 18;
  void* const memory = ::mmap(nullptr, 2 * size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Fiber state;
  fiber = &state;
  state.between = static_cast<char*>(memory) + size_bytes;
  ::getcontext(&state.own);
  state.own.uc_stack.ss_sp = memory;
  state.own.uc_stack.ss_size = size_bytes;
  state.own.uc_link = &state.caller;
  ::makecontext(
      &state.own, [] { fiber->is_host = is_surely_host(fiber->between, 8); }, 0);
  ASSERT_EQ(::swapcontext(&state.caller, &state.own), 0);
  EXPECT_FALSE(state.is_host);
  ::munmap(memory, 2 * size_bytes);
}

}  // namespace
}  // namespace gdrkit::shmem_impl::parts
