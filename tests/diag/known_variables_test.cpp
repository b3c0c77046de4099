// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/known_variables.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gdrkit::diag {
namespace {

TEST(KnownVariables, CountsEditsUpToALimit) {
  EXPECT_EQ(edit_distance("TLS", "TLS", 2), 0u);
  EXPECT_EQ(edit_distance("TL", "TLS", 2), 1u);
  EXPECT_EQ(edit_distance("IB_HAC", "IB_HCA", 2), 2u);
  EXPECT_EQ(edit_distance("", "ABC", 2), 3u);
  EXPECT_EQ(edit_distance("ABCDEF", "UVWXYZ", 2), 3u);
}

TEST(KnownVariables, AcceptsNamesOfEachLibraryAndRelatedOnes) {
  for (const char* name : {"NCCL_IB_HCA", "NCCL_NET_GDR_LEVEL", "NCCL_IB_GDR_LEVEL", "NVSHMEM_HCA_PREFIX", "UCX_TLS",
                           "UCX_IB_GPU_DIRECT_RDMA", "UCX_RC_MLX5_TX_NEW_FIELD", "UCX_SOMETHING_NEW_OF_UCX",
                           "TORCH_NCCL_X", "NCCL_OFI_ANYTHING", "NCCL_ASYNC_ERROR_HANDLING", "NCCL_ROOT_DIR"}) {
    EXPECT_EQ(judge_name(name).knowledge, Knowledge::known) << name;
  }
  for (const char* name :
       {"PATH", "RCCL_DEBUG", "RCCL_NET_GDR_LEVEL", "OMPI_MCA_btl", "CCL_ALGO", "MV2_USE_CUDA", ""}) {
    EXPECT_EQ(judge_name(name).knowledge, Knowledge::foreign) << name;
  }
}

TEST(KnownVariables, SuggestsANameForAMisspeltOne) {
  const std::pair<const char*, const char*> cases[] = {{"NCCL_IB_HAC", "NCCL_IB_HCA"},
                                                       {"NCCL_NET_GDR_LEVL", "NCCL_NET_GDR_LEVEL"},
                                                       {"CCL_NET_GDR_LEVEL", "NCCL_NET_GDR_LEVEL"},
                                                       {"nccl_debug", "NCCL_DEBUG"},
                                                       {" NCCL_DEBUG ", "NCCL_DEBUG"},
                                                       {"NVSHMEM_HCA_LISTS", "NVSHMEM_HCA_LIST"},
                                                       {"UCX_TL", "UCX_TLS"},
                                                       {"UCX_NET_DEVICE", "UCX_NET_DEVICES"}};
  for (const auto& [name, meant] : cases) {
    EXPECT_EQ(judge_name(name).knowledge, Knowledge::near_to) << name;
    EXPECT_EQ(judge_name(name).meant, meant) << name;
  }
  EXPECT_EQ(judge_name("NCCL_SOMETHING_OF_TOMORROW").knowledge, Knowledge::unknown);
}

TEST(KnownVariables, KnownNamesAreNeverReportedAsMisspelt) {
  for (const char* name : {
#define GDRKIT_VARIABLE(name) "NCCL_" #name,
#include "diag/machine/variables_nccl.def"
#undef GDRKIT_VARIABLE
#define GDRKIT_VARIABLE(name) "NVSHMEM_" #name,
#include "diag/machine/variables_nvshmem.def"
#undef GDRKIT_VARIABLE
#define GDRKIT_VARIABLE(name) "UCX_" #name,
#include "diag/machine/variables_ucx.def"
#undef GDRKIT_VARIABLE
       }) {
    EXPECT_EQ(judge_name(name).knowledge, Knowledge::known) << name;
  }
}

TEST(KnownVariables, AcceptsRetiredNamesOfNccl) {
  for (const RetiredVariable& retired : retired_variables()) {
    const std::string name = retired.name;
    if (!name.starts_with("NCCL_")) continue;
    EXPECT_EQ(judge_name(name).knowledge, Knowledge::known) << name;
  }
}

}  // namespace
}  // namespace gdrkit::diag
