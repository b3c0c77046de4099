// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/memory_file.hpp"
#include "support/results.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace gdrkit::base {
namespace {

TEST(MemoryFile, HasTheRequestedSizeAndClosesOnExec) {
  const auto file = tests::value_or_throw(make_memory_file("test", 12345));
  struct stat status {};
  ASSERT_EQ(::fstat(file, &status), 0);
  EXPECT_EQ(status.st_size, 12345);
  EXPECT_EQ(::fcntl(file, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ::close(file);
}

TEST(MemoryFile, RejectsASizeBeyondTheFileSizeLimit) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{65536, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto file = make_memory_file("test", 65536);
  const auto rejected = make_memory_file("test", 65537);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(file);
  if (file) ::close(*file);
  EXPECT_TRUE(tests::failed(rejected, EFBIG, ::testing::HasSubstr("ulimit -f")));
}

TEST(MemoryFile, CannotBecomeExecutable) {
  const int file = open_memory_file("test");
  ASSERT_GE(file, 0);
  constexpr int seal_exec = 0x0020;  // F_SEAL_EXEC, Linux 6.3
  const int seals = ::fcntl(file, F_GET_SEALS);
  const int changed = ::fchmod(file, 0700);
  ::close(file);
  if ((seals & seal_exec) == 0) GTEST_SKIP() << "this Linux does not support F_SEAL_EXEC";
  EXPECT_EQ(changed, -1);
}

}  // namespace
}  // namespace gdrkit::base
