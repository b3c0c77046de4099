// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// An error keeps its own text, independent of later errors and of the thread, and can be created without memory.
#include "base/result.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "fakes/allocation_faults.hpp"

namespace gdrkit::base {
namespace {

using ::testing::HasSubstr;
using ::testing::StrEq;

static_assert(std::is_nothrow_copy_constructible_v<Error> && std::is_nothrow_move_constructible_v<Error>);
static_assert(std::is_nothrow_copy_assignable_v<Error> && std::is_nothrow_move_assignable_v<Error>);
static_assert(sizeof(Error) <= 24 && sizeof(Result<int>) <= 40, "results are returned by value everywhere");

Status failure(int number) { return fail(number, "cannot open /dev/thing%d: it is busy", number); }

TEST(Error, HasErrnoVendorCodeAndText) {
  const Result<int> result = fail_vendor(EIO, 77, "cannot map %u KiB: status 0x%x", 64U, 77U);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().errno_value, EIO);
  EXPECT_EQ(result.error().vendor_code, 77);
  EXPECT_STREQ(result.error().text(), "cannot map 64 KiB: status 0x4d");
  EXPECT_STREQ(Error{}.text(), "");
}

TEST(Error, ReplacesControlCharacters) {
  EXPECT_STREQ(Status(fail(EIO, "PE 1: %s", "\x1b]0;owned\x07 \x7f\r")).error().text(), "PE 1: ?]0;owned? ??");
  EXPECT_STREQ(Status(fail(EIO, "%s",
                           "\xc2\x9b"
                           "31m \xc2\xa7\xc2"))
                   .error()
                   .text(),
               "??31m \xc2\xa7\xc2");
  EXPECT_STREQ(Status(fail(EIO, "%s", "K\xc3\xb6ln\tand\nmore")).error().text(), "K\xc3\xb6ln\tand\nmore");
}

TEST(Error, KeepsItsTextAfterLaterFailures) {
  const Status first = failure(1);
  for (int later = 2; later < 50; ++later) EXPECT_EQ(failure(later).error().errno_value, later);
  EXPECT_STREQ(first.error().text(), "cannot open /dev/thing1: it is busy");
}

TEST(Error, KeepsItsTextAfterTheOriginalIsDestroyed) {
  std::optional<Status> original = failure(3);
  const Result<std::string> passed_on = pass(*original);
  const Error copy = original->error();
  original.reset();
  EXPECT_STREQ(copy.text(), "cannot open /dev/thing3: it is busy");
  EXPECT_EQ(copy.text(), passed_on.error().text()) << "copies share one text";
}

TEST(Error, CanBeReadAndCopiedByManyThreadsAtOnce) {
  std::optional<Status> original = failure(4);
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([error = original->error()] {
      for (int round = 0; round < 1000; ++round) {
        const Error mine = error;
        ASSERT_THAT(mine.text(), StrEq("cannot open /dev/thing4: it is busy"));
      }
    });
  }
  original.reset();
  for (std::thread& thread : threads) thread.join();
}

TEST(Error, SupportsSelfAssignmentAndMoves) {
  Error error = failure(5).error();
  const Error& same = error;
  error = same;
  EXPECT_STREQ(error.text(), "cannot open /dev/thing5: it is busy");
  const Error moved = std::move(error);
  EXPECT_STREQ(moved.text(), "cannot open /dev/thing5: it is busy");
  EXPECT_STREQ(error.text(), "");  // NOLINT(bugprone-use-after-move): a moved-from text is empty, not invalid
}

TEST(Error, TruncatesAVeryLongText) {
  const std::string quoted(3 * SharedText::capacity, 'x');
  const Status result = fail(EINVAL, "%s", quoted.c_str());
  EXPECT_EQ(std::string(result.error().text()), quoted.substr(0, SharedText::capacity - 1));
}

TEST(Error, DoesNotChangeErrno) {
  errno = ERANGE;
  const Status result = failure(6);
  EXPECT_EQ(errno, ERANGE);
  EXPECT_EQ(result.error().errno_value, 6);
}

class MemoryExhausted : public testing::Test {
 protected:
  /// Returns the result of `make` during which this thread's next allocation fails.
  template <class Make>
  Status without_memory(Make make) {
    fakes::allocation_faults = {0, 0, false};
    Status made = make();
    has_allocated = fakes::allocation_faults.was_reached;
    fakes::allocation_faults = {};
    return made;
  }
  bool has_allocated = false;
};

TEST_F(MemoryExhausted, KeepsErrnoAndVendorCodeAndReportsTheLostText) {
  const Status result = without_memory([]() -> Status { return fail_vendor(EACCES, 27, "not kept: %d", 1); });
  EXPECT_TRUE(has_allocated);
  EXPECT_EQ(result.error().errno_value, EACCES);
  EXPECT_EQ(result.error().vendor_code, 27);
  EXPECT_THAT(result.error().text(), HasSubstr("out of memory"));
}

TEST_F(MemoryExhausted, KeepsTheTextOfALiteral) {
  const Status result = without_memory([]() -> Status { return fail_literal(ENOMEM, "out of memory while pinning"); });
  EXPECT_FALSE(has_allocated);
  EXPECT_EQ(result.error().errno_value, ENOMEM);
  EXPECT_STREQ(result.error().text(), "out of memory while pinning");
}

TEST_F(MemoryExhausted, CopiesAnError) {
  const Status original = failure(7);
  const Status copy = without_memory([&] { return original; });
  EXPECT_FALSE(has_allocated);
  EXPECT_STREQ(copy.error().text(), "cannot open /dev/thing7: it is busy");
}

TEST(KeepFirst, KeepsTheFirstError) {
  Status first;
  keep_first(first, {});
  EXPECT_TRUE(first);
  keep_first(first, failure(8));
  keep_first(first, {});
  keep_first(first, failure(9));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().errno_value, 8);
  EXPECT_STREQ(first.error().text(), "cannot open /dev/thing8: it is busy");
}

}  // namespace
}  // namespace gdrkit::base
