// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The copy path makes no allocation, takes no lock and makes no system call: tested through both libraries, over sizes
// and copy kernels, each time with a control that must be detected.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "gdrapi.h"
#include "gdrkit/gdrkit.h"
#include "lib/capi/emulated_fixture.hpp"
#include "lib/capi/interposers.hpp"
#include "support/forked_child.hpp"

namespace gdrkit::tests {
namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 4, 7, 8, 16, 63, 64, 65, 100, 256, 1000, 4096, 10000, 65535, 65536};

/// From here on every system call but exit_group kills this process with SIGSYS.
bool forbid_system_calls() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{sizeof program / sizeof program[0], program};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Emulated memory mapped through both libraries, with every way there is to copy.
class Subject {
 public:
  [[nodiscard]] bool open() {
    const base::Result<std::uint64_t> allocated = driver::emulated_allocate(4 * gpu_page, driver::EmulatedKind::device);
    if (!allocated) return false;
    memory = *allocated;
    host.resize(gpu_page + 64, 0x5A);
    g = gdr_open();
    void* address = nullptr;
    return g != nullptr && gdr_pin_buffer(g, memory, 2 * gpu_page, 0, 0, &handle) == 0 &&
           gdr_map(g, handle, &va, 2 * gpu_page) == 0 && gdrkit_open(nullptr, &context) == 0 &&
           gdrkit_pin(context, memory + 1, 2 * gpu_page, &pin) == 0 && gdrkit_map(pin, nullptr, &address) == 0;
  }
  [[nodiscard]] bool close() {
    return gdr_close(g) == 0 && gdrkit_close(context) == 0 && driver::emulated_free(memory);
  }

  /// Every copy function of both libraries, good and refused. The number of results that were not as they should be.
  int copy_everything() {
    int wrong = 0;
    auto* const mapping = static_cast<std::uint8_t*>(va);
    for (const std::size_t size : sizes) {
      for (const std::size_t offset : {0U, 1U, 8U, 63U}) {
        wrong += gdr_copy_to_mapping(handle, mapping + offset, host.data() + 1, size) != 0;
        wrong += gdr_copy_from_mapping(handle, host.data() + 1, mapping + offset, size) != 0;
        wrong += gdrkit_write(pin, offset, host.data(), size) != 0;
        wrong += gdrkit_read(pin, offset, host.data(), size) != 0;
      }
    }
    wrong += gdr_copy_to_mapping(gdr_mh_t{0}, mapping, host.data(), 1) != EINVAL;
    wrong += gdr_copy_to_mapping(gdr_mh_t{handle.h ^ 256}, mapping, host.data(), 1) != EINVAL;
    wrong += gdr_copy_from_mapping(handle, host.data(), mapping - 1, 1) != EINVAL;
    wrong += gdrkit_write(pin, 2 * gpu_page, host.data(), 1) != -EINVAL;
    wrong += gdrkit_read(gdrkit_pin_t{~std::uint64_t{0}}, 0, host.data(), 1) != -EINVAL;
    return wrong;
  }

  std::uint64_t memory = 0;
  gdr_t g = nullptr;
  gdr_mh_t handle{};
  void* va = nullptr;
  gdrkit_context_t context{};
  gdrkit_pin_t pin{};
  std::vector<std::uint8_t> host;
};

/// Once for each copy kernel of the list.
class QuietCopy : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GDRKIT_IS_SANITIZED) GTEST_SKIP() << "sanitizers allocate, lock and make system calls of their own";
    for (unsigned i = 0; const char* name = gdrkit_copy_kernel_name(i, &is_usable); ++i) {
      if (GetParam() == name) break;
    }
    if (is_usable == 0) GTEST_SKIP() << "this CPU does not run the copy kernel " << GetParam();
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    ::setenv("GDRKIT_COPY_KERNEL", GetParam().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("GDRKIT_COPY_KERNEL"); }

  int is_usable = 0;
};

std::vector<std::string> copy_kernel_names() {
  std::vector<std::string> names;
  for (unsigned i = 0; const char* name = gdrkit_copy_kernel_name(i, nullptr); ++i) names.emplace_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryCopyKernel, QuietCopy, testing::ValuesIn(copy_kernel_names()),
                         [](const auto& test) { return test.param; });

TEST_P(QuietCopy, AllocatesNothingAndTakesNoLock) {
  Subject subject;
  ASSERT_TRUE(subject.open());
  int wrong = 0;
  const CallCounts calls = count_calls([&] { wrong = subject.copy_everything(); });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(calls.allocations, 0);
  EXPECT_EQ(calls.locks, 0);
  EXPECT_TRUE(subject.close());
}

TEST_P(QuietCopy, TestDetectsAllocationsAndLocks) {
  Subject subject;
  ASSERT_TRUE(subject.open());
  int flag = 0;
  EXPECT_GT(count_calls([&] { (void)gdr_get_callback_flag(subject.g, subject.handle, &flag); }).locks, 0);
  auto pin_info = sized<gdrkit_pin_info>();
  EXPECT_GT(count_calls([&] { (void)gdrkit_get_pin_info(subject.pin, &pin_info); }).locks, 0);
  gdr_mh_t other{};
  EXPECT_GT(count_calls([&] { (void)gdr_pin_buffer(subject.g, subject.memory, 1, 0, 0, &other); }).allocations, 0);
  gdrkit_pin_t another{};
  EXPECT_GT(count_calls([&] { (void)gdrkit_pin(subject.context, subject.memory, 1, &another); }).allocations, 0);
  EXPECT_TRUE(subject.close());
}

TEST(SlowCalls, LockThePinOnce) {
  if (GDRKIT_IS_SANITIZED) GTEST_SKIP() << "sanitizers lock by themselves";
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  Subject subject;
  ASSERT_TRUE(subject.open());
  auto info = sized<gdrkit_pin_info>();
  const long once = count_calls([&] { (void)gdrkit_get_pin_info(subject.pin, &info); }).locks;
  EXPECT_GT(once, 0);
  int result = -1;
  EXPECT_EQ(count_calls([&] { result = gdr_unmap(subject.g, subject.handle, subject.va, 1); }).locks, once);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(count_calls([&] { result = gdr_map(subject.g, subject.handle, &subject.va, gpu_page); }).locks, once);
  EXPECT_EQ(result, 0);
  ASSERT_EQ(gdrkit_unmap(subject.pin), 0);
  void* address = nullptr;
  EXPECT_EQ(count_calls([&] { result = gdrkit_map(subject.pin, nullptr, &address); }).locks, once);
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(subject.close());
}

/// The subject is made in the child, which inherits neither memory nor mappings. A first round resolves symbols.
ChildEnd run_without_system_calls(const std::function<int(Subject*)>& body) {
  return run_in_child([&] {
    ::signal(SIGSYS, SIG_DFL);
    Subject subject;
    if (!subject.open()) return 3;
    if (subject.copy_everything() != 0) return 4;
    if (!forbid_system_calls()) return 5;
    return body(&subject);
  });
}

TEST_P(QuietCopy, MakesNoSystemCall) {
  const ChildEnd end =
      run_without_system_calls([](Subject* subject) { return subject->copy_everything() == 0 ? 0 : 6; });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.signal, 0);
}

TEST_P(QuietCopy, TestDetectsSystemCalls) {
  const ChildEnd own = run_without_system_calls([](Subject*) { return ::syscall(SYS_getppid) > 0 ? 0 : 6; });
  EXPECT_EQ(own.signal, SIGSYS);
  const ChildEnd of_the_library =
      run_without_system_calls([](Subject* subject) { return gdr_unpin_buffer(subject->g, subject->handle); });
  EXPECT_EQ(of_the_library.signal, SIGSYS);
}

TEST_P(QuietCopy, DescriptionsMakeNoSystemCall) {
  const ChildEnd end = run_without_system_calls([](Subject* subject) {
    gdr_info_t info{};
    auto pin_info = sized<gdrkit_pin_info>();
    auto context_info = sized<gdrkit_context_info>();
    return gdr_get_info(subject->g, subject->handle, &info) == 0 && gdrkit_get_pin_info(subject->pin, &pin_info) == 0 &&
                   gdrkit_get_context_info(subject->context, &context_info) == 0
               ? 0
               : 6;
  });
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.signal, 0);
}

}  // namespace
}  // namespace gdrkit::tests
