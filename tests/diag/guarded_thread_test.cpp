// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/guarded_thread.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "topology/written_machine.hpp"

namespace gdrkit::diag {
namespace {

class GuardedThread : public testing::Test, protected topology::WrittenMachine {
 protected:
  GuardedThread() { put("/file", "as it was"); }
  [[nodiscard]] std::string path(const std::string& name) const { return root() + "/" + name; }
};

/// errno of an attempt inside; 0 when it succeeded.
int inside(const std::function<int()>& attempt) {
  int error = -1;
  EXPECT_EQ(run_guarded([&] { error = attempt() < 0 ? errno : 0; }), "");
  return error;
}

TEST_F(GuardedThread, DeniesEveryCallThatChangesAFile) {
  const std::string file = path("file");
  const std::string other = path("other");
  const std::vector<std::function<int()>> attempts = {
      [&] { return ::open(file.c_str(), O_WRONLY); },
      [&] { return ::open(file.c_str(), O_RDWR | O_TRUNC); },
      [&] { return ::open(file.c_str(), O_WRONLY | O_APPEND); },
      [&] { return ::open(other.c_str(), O_RDWR | O_CREAT, 0600); },
      [&] { return ::creat(other.c_str(), 0600); },
      [&] { return ::open(root().c_str(), O_TMPFILE | O_RDWR, 0600); },
      [&] { return ::unlink(file.c_str()); },
      [&] { return ::rename(file.c_str(), other.c_str()); },
      [&] { return ::symlink(file.c_str(), other.c_str()); },
      [&] { return ::link(file.c_str(), other.c_str()); },
      [&] { return ::mkfifo(other.c_str(), 0600); },
      [&] { return ::truncate(file.c_str(), 0); },
      [&] { return ::chmod(file.c_str(), 0777); },
      [&] { return ::rmdir(root().c_str()); },
      [] { return static_cast<int>(::syscall(SYS_open_by_handle_at, -1, nullptr, O_WRONLY)); },
      [] { return static_cast<int>(::syscall(452, AT_FDCWD, nullptr, 0777, 0)); },       // fchmodat2
      [] { return static_cast<int>(::syscall(463, AT_FDCWD, "", 0, "", nullptr, 0)); },  // setxattrat
      [&] { return ::execl("/bin/true", "true", nullptr); },
  };
  for (std::size_t i = 0; i < attempts.size(); ++i) EXPECT_EQ(inside(attempts[i]), EACCES) << "attempt " << i;
  EXPECT_EQ(inside([&] { return ::mkdir(other.c_str(), 0700); }), EEXIST);
  EXPECT_FALSE(std::filesystem::exists(other));
  std::string content;
  std::getline(std::ifstream(file), content);
  EXPECT_EQ(content, "as it was");
}

TEST_F(GuardedThread, AllowsReadingAndOpeningDevicesForBoth) {
  EXPECT_EQ(inside([&] { return ::open(path("file").c_str(), O_RDONLY); }), 0);
  EXPECT_EQ(inside([] { return ::open("/dev/null", O_RDWR); }), 0);
  EXPECT_EQ(inside([] { return ::open("/proc/self/fd", O_RDONLY | O_DIRECTORY); }), 0);
}

TEST_F(GuardedThread, FiltersThreadsStartedByTheWorkButNotTheCaller) {
  int error = 0;
  EXPECT_EQ(run_guarded([&] { std::thread([&] { error = ::unlink(path("file").c_str()) < 0 ? errno : 0; }).join(); }),
            "");
  EXPECT_EQ(error, EACCES);
  EXPECT_EQ(::unlink(path("file").c_str()), 0);
}

}  // namespace
}  // namespace gdrkit::diag
