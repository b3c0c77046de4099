// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/path_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

namespace gdrkit::transfer::engines {
namespace {

TEST(PathLog, CountsTheChannelsOfEachWay) {
  const NcclPaths paths = parse_nccl_log(
      "vm:4143:4143 [0] NCCL INFO Using network Socket\n"
      "vm:4143:4143 [0] NCCL INFO GDRCOPY enabled library 2.6 driver 2.6\n"
      "vm:4143:4143 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
      "vm:4143:4143 [0] NCCL INFO Channel 01/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n"
      "vm:4143:4143 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/direct pointer comm 0x55 nRanks 02\n"
      "vm:4143:4143 [0] NCCL INFO Connected all rings\n");
  EXPECT_EQ(paths.channels, (std::map<std::string, int>{{"NET/Socket/0", 2}, {"P2P/direct pointer", 1}}));
  EXPECT_EQ(
      paths.text(),
      "NET/Socket/0 (2 channels), P2P/direct pointer (1 channel); network Socket; GDRCopy is on, library 2.6 driver "
      "2.6");
}

TEST(PathLog, ReportsDisabledFeatures) {
  EXPECT_EQ(parse_nccl_log("h [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\nConnected NVLS tree\n").text(),
            "P2P/CUMEM (1 channel), NVLS; GDRCopy is off (NCCL_GDRCOPY_ENABLE=1 turns it on)");
  EXPECT_THAT(parse_nccl_log("").text(), ::testing::StartsWith("no channel in NCCL's log;"));
}

TEST(PathLog, ReadsTheLogFile) {
  ::unsetenv("NCCL_DEBUG");
  ::unsetenv("NCCL_DEBUG_FILE");
  const PathLog log;
  EXPECT_STREQ(std::getenv("NCCL_DEBUG"), "INFO");
  std::FILE* const file = std::fopen(std::getenv("NCCL_DEBUG_FILE"), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n", file);
  std::fclose(file);
  EXPECT_THAT(log.text(), ::testing::StartsWith("P2P/IPC (1 channel)"));
  const PathLog second;  // the variables are set now, as by a user
  EXPECT_THAT(second.text(), ::testing::StartsWith("unknown, because NCCL_DEBUG"));
}

}  // namespace
}  // namespace gdrkit::transfer::engines
