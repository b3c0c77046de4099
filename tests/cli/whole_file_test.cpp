// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "support/throws_failure.hpp"

namespace gdrkit::cli {
namespace {

namespace fs = std::filesystem;
using testing::_;
using testing::HasSubstr;
using tests::throws_failure;

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "whole_file_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = (directory_ / "out.json").string();
  }
  void TearDown() override { fs::remove_all(directory_); }

  static std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }

  fs::path directory_;
  std::string path_;
};

TEST_F(WholeFile, ReplacesTheOldContentAndKeepsTheMode) {
  write_whole_file(path_, "old");
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  write_whole_file(path_, "new");
  EXPECT_EQ(content_of(path_), "new");
  EXPECT_EQ(static_cast<unsigned>(fs::status(path_).permissions()) & 0777u, 0640u);
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, KeepsASymbolicLink) {
  const std::string link = (directory_ / "link.json").string();
  write_whole_file(path_, "old");
  fs::create_symlink(path_, link);
  write_whole_file(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content_of(path_), "new");
}

/// Limits the size of files, like a full disk. The signal that Linux then sends keeps its default action, which kills.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit small = old_;
    small.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &old_); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit old_{};
};

TEST_F(WholeFile, IncompleteWriteKeepsTheOldFile) {
  write_whole_file(path_, "old");
  {
    const FullDisk disk(100);
    EXPECT_THAT([this] { write_whole_file(path_, std::string(5000, 'x')); },
                throws_failure(ExitCode::failed, HasSubstr(path_)));
  }
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFile, DevicesAreWrittenDirectlyAndTheirErrorsAreReported) {
  write_whole_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_whole_file("/dev/full", "text"), Failure);
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(WholeFile, UnwritableFilesAreDetectedBeforehand) {
  for (const fs::path& path : {directory_ / "no" / "such.json", directory_}) {
    EXPECT_THAT([&] { check_can_write(path.string()); }, throws_failure(ExitCode::usage, _)) << path;
  }
  EXPECT_NO_THROW(check_can_write(path_));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_NO_THROW(check_can_write("/dev/null"));
}

TEST_F(WholeFile, TwoNamesOfOneFileAreDetected) {
  const std::string other = (directory_ / "other.json").string();
  const std::string detour = (directory_ / "." / "out.json").string();
  EXPECT_TRUE(are_one_file(path_, detour)) << "neither is there yet";
  EXPECT_FALSE(are_one_file(path_, other));
  write_whole_file(path_, "old");
  EXPECT_TRUE(are_one_file(path_, detour));
  EXPECT_FALSE(are_one_file(path_, other));
  fs::create_symlink(path_, other);
  EXPECT_TRUE(are_one_file(path_, other));
  EXPECT_FALSE(are_one_file("/dev/null", "/dev/null")) << "no data is lost";
}

}  // namespace
}  // namespace gdrkit::cli
