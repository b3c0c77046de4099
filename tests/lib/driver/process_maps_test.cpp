// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "driver/process_maps.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace gdrkit::driver {
namespace {

struct Seen {
  std::uint64_t start;
  std::string name;
};

std::vector<Seen> read_all(const std::string& text) {
  char path[] = "/tmp/gdrkit-maps-XXXXXX";
  const int fd = ::mkstemp(path);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(::write(fd, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(fd);
  std::vector<Seen> seen;
  ProcessMaps maps;
  EXPECT_TRUE(maps.open(path));
  ProcessMapping mapping;
  for (auto more = maps.next(&mapping); more && *more; more = maps.next(&mapping)) {
    seen.push_back({mapping.start, std::string(mapping.name)});
  }
  ::unlink(path);
  return seen;
}

TEST(ProcessMapping, ParsesEveryField) {
  ProcessMapping mapping;
  ASSERT_TRUE(parse_process_mapping(
      "7f2a00010000-7f2a00030000 rw-s 0001f000 00:01 123456789012          /memfd:a b:1 (deleted)", &mapping));
  EXPECT_EQ(mapping.start, 0x7f2a00010000U);
  EXPECT_EQ(mapping.end, 0x7f2a00030000U);
  EXPECT_EQ(mapping.offset, 0x1f000U);
  EXPECT_EQ(mapping.inode, 123456789012U);
  EXPECT_TRUE(mapping.is_readable);
  EXPECT_TRUE(mapping.is_shared);
  EXPECT_EQ(mapping.name, "/memfd:a b:1");
}

TEST(ProcessMapping, IsAnonymousWithoutName) {
  for (const char* line : {"10000-20000 ---p 00000000 00:00 0", "10000-20000 ---p 00000000 00:00 0 "}) {
    ProcessMapping mapping;
    ASSERT_TRUE(parse_process_mapping(line, &mapping)) << line;
    EXPECT_EQ(mapping.name, "") << line;
    EXPECT_EQ(mapping.inode, 0U) << line;
    EXPECT_FALSE(mapping.is_readable) << line;
    EXPECT_FALSE(mapping.is_shared) << line;
  }
}

TEST(ProcessMapping, RejectsOtherText) {
  const std::string whole = "10000-20000 rw-p 00000000 08:01 7";
  ProcessMapping mapping;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_process_mapping(whole.substr(0, size), &mapping)) << whole.substr(0, size);
  }
  for (const char* line : {"x0000-20000 rw-p 00000000 08:01 7", "10000-20000 rw-p", "10000 20000 rw-p 0 08:01 7",
                           "10000-20000 rw-p 00000000 08:01 x", "fffffffffffffffff-1 rw-p 0 08:01 7"}) {
    EXPECT_FALSE(parse_process_mapping(line, &mapping)) << line;
  }
}

TEST(ProcessMaps, ReadsLinesLongerThanItsBuffers) {
  const std::string long_name = "/" + std::string(20000, 'n');
  const auto seen = read_all("1000-2000 r--p 00000000 08:01 1 /short\n2000-3000 r--p 00000000 08:01 2 " + long_name +
                             "\n3000-4000 r--p 00000000 08:01 3 /last");
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].name, "/short");
  EXPECT_EQ(seen[1].start, 0x2000U);
  EXPECT_TRUE(long_name.starts_with(seen[1].name));
  EXPECT_GT(seen[1].name.size(), 500U);
  EXPECT_EQ(seen[2].name, "/last");
}

TEST(ProcessMaps, ReadsLinesAcrossChunks) {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    char line[128];
    std::snprintf(line, sizeof line, "%x-%x rw-p 00000000 08:01 %d %*s/name%d\n", 0x1000 + i, 0x1001 + i, i, i % 40, "",
                  i);
    text += line;
  }
  const auto seen = read_all(text);
  ASSERT_EQ(seen.size(), 2000U);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i].start, 0x1000 + i);
    ASSERT_EQ(seen[i].name, "/name" + std::to_string(i));
  }
}

TEST(ProcessMaps, SkipsInvalidLines) {
  const auto seen = read_all("garbage\n\n1000-2000 r--p 00000000 08:01 1 /name\n");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].name, "/name");
}

TEST(ProcessMaps, FindsAMappingOfThisProcess) {
  void* page = ::mmap(nullptr, 65536, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ProcessMaps maps;
  ASSERT_TRUE(maps.open());
  ProcessMapping mapping;
  bool is_found = false;
  for (auto more = maps.next(&mapping); more && *more && !is_found; more = maps.next(&mapping)) {
    const auto address = reinterpret_cast<std::uint64_t>(page);
    is_found = mapping.start <= address && address < mapping.end && mapping.is_shared && mapping.is_readable;
  }
  EXPECT_TRUE(is_found);
  ::munmap(page, 65536);
}

TEST(ProcessMaps, ReportsAnUnreadableFile) {
  ProcessMaps maps;
  EXPECT_TRUE(tests::failed(maps.open("/nonexistent/maps"), ENOENT, testing::HasSubstr("/nonexistent/maps")));
}

}  // namespace
}  // namespace gdrkit::driver
