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

// Lines of UCX 1.13.
TEST(UcxPath, LanesAreListedWithTheirUses) {
  const std::string printed =
      "#\n# UCP endpoint \n#\n#               peer: <no debug data>\n"
      "#                 lane[0]:  4:posix/memory.0 md[3]          -> md[3]/posix/sysdev[255] am am_bw#0\n"
      "#                 lane[1]:  1:tcp/eth0.0 md[1]              -> md[1]/tcp/sysdev[255] rma_bw#1 wireup\n"
      "#                 lane[2]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255]\n"
      "#\n#                tag_send: 0..<egr/short>..8185..<rndv>..(inf)\n";
  EXPECT_EQ(ucx_lanes_in(printed), "posix/memory (am am_bw), tcp/eth0 (rma_bw wireup), sysv/memory");
  EXPECT_EQ(ucx_lanes_in(""), "");
  // UCX 1.15 and newer.
  EXPECT_EQ(ucx_lanes_in("#  lane[0]:  4:posix/memory.0 md[3] -> md[3]/posix/sysdev[255] seg 8256 am am_bw#0\n"
                         "#  lane[1]:  3:cma/memory.0 md[2] -> md[2]/cma/sysdev[255] seg 4294967295 rma_bw#0\n"),
            "posix/memory (am am_bw), cma/memory (rma_bw)");
}

TEST(UcxPath, ADomainCountsOnlyIfItIsOpen) {
  const std::string printed =
      "#     component 2  :  gdr_copy\n#\n#            md 0  :  component 0  self \n"
      "#            md 1  :  component 3  cuda_cpy \n";
  EXPECT_FALSE(has_ucx_domain(printed, "gdr_copy"));
  EXPECT_TRUE(has_ucx_domain(printed, "cuda_cpy"));
  EXPECT_TRUE(has_ucx_domain(printed + "#            md 2  :  component 2  gdr_copy \n", "gdr_copy"));
}

TEST(UcxPath, ReportsRanksWithoutHooks) {
  EXPECT_EQ(describe_ranks_without_hooks({1, 1}), "");
  EXPECT_EQ(describe_ranks_without_hooks({0, 1, 0}),
            "; UCX could not hook CUDA's allocation functions in rank 0, 2, so it registers GPU memory again for every "
            "message (with gdr_copy: pin and unpin); try UCX_MEM_CUDA_HOOK_MODE=reloc");
}

}  // namespace
}  // namespace gdrkit::transfer::engines
