// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Lines of UCX 1.13.
#include "transfer/engines/ucx_path.hpp"

#include <gtest/gtest.h>

namespace gdrkit::transfer::engines {
namespace {

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
