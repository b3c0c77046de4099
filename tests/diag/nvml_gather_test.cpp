// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loads tests/fakes/fake_nvml in place of NVML: it is loaded before, and the loader finds it by its name.
#include "diag/machine/nvml_gather.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <set>

#include "fakes/fake_nvml.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/vendor/nvml_library.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

class NvmlGather : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::dlopen(GDRKIT_FAKE_NVML, RTLD_NOW), nullptr) << ::dlerror();
    const auto loaded = platform::nvml_calls();
    ASSERT_TRUE(loaded.has_value()) << loaded.error().text();
    nvml_ = *loaded;
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    fail_ = reinterpret_cast<FakeNvmlFail*>(::dlsym(library, "fake_nvml_fail"));
    violations_ = reinterpret_cast<FakeNvmlViolations*>(::dlsym(library, "fake_nvml_violations"));
    return_invalid_values_ =
        reinterpret_cast<FakeNvmlReturnInvalidValues*>(::dlsym(library, "fake_nvml_return_invalid_values"));
    ASSERT_NE(fail_, nullptr) << "another NVML was found first";
    ASSERT_TRUE(violations_ != nullptr && return_invalid_values_ != nullptr);
  }
  void TearDown() override {
    if (violations_ != nullptr) {
      EXPECT_EQ(violations_(), 0);
    }
  }

  const platform::NvmlCalls* nvml_ = nullptr;
  FakeNvmlFail* fail_ = nullptr;
  FakeNvmlViolations* violations_ = nullptr;
  FakeNvmlReturnInvalidValues* return_invalid_values_ = nullptr;
};

template <class T>
void expect_absent(const Fact<T>& fact, const std::string& reason) {
  EXPECT_TRUE(fact.is_absent());
  EXPECT_EQ(fact.reason, reason);
}

TEST_F(NvmlGather, KeepsNvmlsValues) {
  const auto facts = gather_nvml_facts(*nvml_);
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  EXPECT_EQ(facts.value.driver_version.value, "580.159.04");
  EXPECT_EQ(facts.value.nvml_version.value, "13.580.159.04");
  EXPECT_EQ(facts.value.cuda_version.value, 13000);
  EXPECT_EQ(facts.value.cc_environment.value, 2);
  EXPECT_TRUE(facts.value.cc_enabled.value);
  EXPECT_TRUE(facts.value.cc_developer_mode.is_found() && !facts.value.cc_developer_mode.value);
  EXPECT_EQ(facts.value.cc_multi_gpu.value, 1);
  ASSERT_EQ(facts.value.gpus.size(), 2u);
  const NvmlGpu& gpu = facts.value.gpus[1];
  EXPECT_EQ(gpu.index, 1);
  EXPECT_EQ(gpu.address.value, "0000:83:00.0");
  EXPECT_EQ(gpu.name.value, "NVIDIA H200");
  EXPECT_EQ(gpu.uuid.value, "GPU-1");
  EXPECT_EQ(gpu.compute_capability.value, 90);
  EXPECT_EQ(gpu.memory_bytes.value, std::int64_t{141} << 30);
  EXPECT_EQ(gpu.bar1_total_bytes.value, std::int64_t{256} << 30);
  EXPECT_EQ(gpu.bar1_free_bytes.value, std::int64_t{255} << 30);
  EXPECT_EQ(gpu.bar1_used_bytes.value, std::int64_t{1} << 30);
  EXPECT_TRUE(gpu.ecc_enabled.value && gpu.ecc_enabled_next.is_found() && !gpu.ecc_enabled_next.value);
  EXPECT_EQ(gpu.ecc_uncorrected.value, 7);
  EXPECT_TRUE(gpu.remap_pending.value && gpu.remap_failed.is_found() && !gpu.remap_failed.value);
  EXPECT_TRUE(gpu.persistence.value);
  EXPECT_EQ(gpu.compute_mode.value, 3);
  EXPECT_TRUE(gpu.mig.is_found() && !gpu.mig.value && gpu.mig_next.value);
  EXPECT_EQ(gpu.pcie_generation.value, 1);
  EXPECT_EQ(gpu.pcie_generation_max.value, 4);
  EXPECT_EQ(gpu.pcie_generation_gpu_max.value, 5);
  EXPECT_EQ(gpu.pcie_width.value, 8);
  EXPECT_EQ(gpu.pcie_width_max.value, 16);
  EXPECT_EQ(gpu.virtualization.value, 1);
  EXPECT_EQ(gpu.fabric_state.value, 3);
  EXPECT_EQ(gpu.fabric_clique.value, 4);
  EXPECT_EQ(gpu.fabric_cluster.value, "ab000000000000000000000000000001");
  expect_absent(gpu.c2c_links, "nvmlDeviceGetFieldValues: NVML_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(gpu.cpus.value, "0-15,64-65");
}

TEST_F(NvmlGather, KeepsLinksAndPairs) {
  const auto facts = gather_nvml_facts(*nvml_);
  ASSERT_TRUE(facts.is_found() && facts.value.gpus.size() == 2u && facts.value.pairs.size() == 1u);
  const NvmlGpu& gpu = facts.value.gpus[1];
  EXPECT_EQ(gpu.nvlink_count.value, 18);
  ASSERT_EQ(gpu.links.size(), 18u);
  EXPECT_EQ(gpu.links[2].remote.value, "0000:c5:00.0");
  EXPECT_EQ(gpu.links[2].remote_kind.value, "switch");
  EXPECT_EQ(gpu.links[1].remote_kind.value, "unknown");
  EXPECT_EQ(gpu.links[2].speed_mbps.value, 26562);
  EXPECT_TRUE(gpu.links[2].can_p2p.value);
  EXPECT_TRUE(gpu.links[0].remote.is_found());
  EXPECT_EQ(gpu.links[0].remote.value, "") << "a switch that the machine does not show has no address here";
  EXPECT_TRUE(gpu.links[17].is_active.is_found() && !gpu.links[17].is_active.value);
  expect_absent(gpu.links[17].remote, "the link is not active");
  const NvmlPair& pair = facts.value.pairs[0];
  EXPECT_EQ(pair.common_ancestor.value, 40);
  EXPECT_EQ(pair.p2p_read.value, 4);
  EXPECT_EQ(pair.p2p_write.value, 5);
  EXPECT_EQ(pair.p2p_nvlink.value, 0);
}

/// visit(name, fact) for every fact of both documents at the same places: "gpus[1].links[3].remote", one and other.
/// They must have as many GPUs, links and pairs.
template <class Visit>
void for_each_fact(const NvmlFacts& one, const NvmlFacts& other, Visit visit) {
#define GDRKIT_NVML_SYSTEM(type, name) visit(#name, one.name, other.name);
#include "diag/machine/nvml_facts.def"
  for (std::size_t i = 0; i < one.gpus.size() && i < other.gpus.size(); ++i) {
    const std::string gpu = "gpus[" + std::to_string(i) + "].";
#define GDRKIT_NVML_GPU(type, name) visit(gpu + #name, one.gpus[i].name, other.gpus[i].name);
#include "diag/machine/nvml_facts.def"
    for (std::size_t j = 0; j < one.gpus[i].links.size() && j < other.gpus[i].links.size(); ++j) {
      const std::string link = gpu + "links[" + std::to_string(j) + "].";
#define GDRKIT_NVML_LINK(type, name) visit(link + #name, one.gpus[i].links[j].name, other.gpus[i].links[j].name);
#include "diag/machine/nvml_facts.def"
    }
  }
  for (std::size_t i = 0; i < one.pairs.size() && i < other.pairs.size(); ++i) {
    const std::string pair = "pairs[" + std::to_string(i) + "].";
#define GDRKIT_NVML_PAIR(type, name) visit(pair + #name, one.pairs[i].name, other.pairs[i].name);
#include "diag/machine/nvml_facts.def"
  }
}

/// Every function with every kind of failure: its facts have no value and a reason; all others are unchanged.
TEST_F(NvmlGather, AFailedFunctionLosesOnlyItsOwnFacts) {
  const auto healthy = gather_nvml_facts(*nvml_);
  const std::set<std::string> without_facts = {"nvmlShutdown", "nvmlDeviceGetNvLinkState",
                                               "nvmlSystemGetConfComputeState"};
  const auto check = [&](const std::string& function, int result) {
    SCOPED_TRACE(function + " returns " + std::to_string(result));
    const auto facts = gather_nvml_facts(*nvml_);
    if (function == "nvmlInit_v2" || function == "nvmlDeviceGetCount_v2") {
      EXPECT_FALSE(facts.is_found());
      EXPECT_NE(facts.reason.find(function), std::string::npos) << facts.reason;
      EXPECT_NE(facts.reason.find(platform::nvml_result_name(result)), std::string::npos) << facts.reason;
      return;
    }
    ASSERT_TRUE(facts.is_found()) << facts.reason;
    unsigned changed = 0;
    for_each_fact(facts.value, healthy.value, [&](const std::string& name, const auto& now, const auto& before) {
      if (now == before) return;
      ++changed;
      EXPECT_EQ(now.outcome, result == platform::nvml_not_supported ? Outcome::absent : Outcome::unreadable) << name;
      EXPECT_NE(now.reason.find(function), std::string::npos) << name << ": " << now.reason;
    });
    EXPECT_EQ(changed > 0, without_facts.count(function) == 0);
  };
  for (const int result :
       {platform::nvml_not_supported, platform::nvml_no_permission, platform::nvml_gpu_is_lost, 999, 4711}) {
#define GDRKIT_NVML_CALL(member, symbol, ...) \
  fail_(#symbol, result);                     \
  check(#symbol, result);                     \
  fail_(nullptr, 0);
#include "platform/vendor/nvml_calls.def"
#undef GDRKIT_NVML_CALL
  }
}

TEST_F(NvmlGather, AnOlderDriverLacksTheFactsOfItsMissingFunctions) {
  platform::NvmlCalls older = *nvml_;
  older.cc_settings = nullptr;
  older.fabric_info = nullptr;
  older.field_values = nullptr;
  const auto facts = gather_nvml_facts(older);
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  EXPECT_TRUE(facts.value.cc_enabled.value) << "an older function reports it";
  EXPECT_EQ(facts.value.cc_multi_gpu.outcome, Outcome::unreadable);
  EXPECT_EQ(facts.value.gpus[0].fabric_state.reason, "nvmlDeviceGetGpuFabricInfo: NVML_ERROR_FUNCTION_NOT_FOUND");
  EXPECT_EQ(facts.value.gpus[0].nvlink_count.value, 18) << "links are queried if NVML does not report their number";
  EXPECT_EQ(facts.value.gpus[0].links[3].speed_mbps.outcome, Outcome::unreadable);
}

TEST_F(NvmlGather, DistinguishesMissingNvlinkFromAFailedQuery) {
  fail_("nvmlDeviceGetFieldValues", platform::nvml_not_supported);
  fail_("nvmlDeviceGetNvLinkState", platform::nvml_not_supported);
  auto facts = gather_nvml_facts(*nvml_);
  EXPECT_EQ(facts.value.gpus[0].links.size(), 0u);
  EXPECT_EQ(facts.value.gpus[0].nvlink_count.value, 0);
  fail_("nvmlDeviceGetNvLinkState", platform::nvml_gpu_is_lost);
  facts = gather_nvml_facts(*nvml_);
  EXPECT_EQ(facts.value.gpus[0].links.size(), 0u);
  EXPECT_FALSE(facts.value.gpus[0].nvlink_count.is_found());
  fail_(nullptr, 0);
}

TEST_F(NvmlGather, InvalidResultsAreMalformedOrMadePrintable) {
  return_invalid_values_(true);
  const auto facts = gather_nvml_facts(*nvml_);
  return_invalid_values_(false);
  ASSERT_TRUE(facts.is_found());
  // Counts that no machine has are truncated. There is no third device, so the others could not be opened.
  ASSERT_EQ(facts.value.gpus.size(), most_nvml_gpus);
  const NvmlGpu& gpu = facts.value.gpus[0];
  EXPECT_EQ(gpu.address.outcome, Outcome::malformed);
  EXPECT_EQ(gpu.name.value, std::string(96, '?'));
  EXPECT_EQ(gpu.brand.outcome, Outcome::malformed);
  EXPECT_EQ(gpu.memory_bytes.outcome, Outcome::malformed);
  EXPECT_EQ(gpu.ecc_uncorrected.outcome, Outcome::malformed);
  EXPECT_EQ(gpu.nvlink_count.value, 18);
  EXPECT_EQ(facts.value.gpus[2].name.outcome, Outcome::unreadable);
  EXPECT_EQ(facts, parse_nvml_facts(to_json_text(facts)));
}

int attribute_result = 0;
int init_result = 0;
int contexts = 0;

/// The required part of libcuda: one device, which is NVML's second.
platform::CudaCalls fake_cuda() {
  platform::CudaCalls cuda;
  cuda.init = [](unsigned) { return init_result; };
  cuda.driver_get_version = [](int* version) { return *version = 13010, 0; };
  cuda.device_get_count = [](int* count) { return *count = 1, 0; };
  cuda.device_get = [](int* device, int ordinal) { return *device = ordinal + 40, 0; };
  cuda.device_get_pci_bus_id = [](char* text, int size, int) {
    std::snprintf(text, static_cast<std::size_t>(size), "0000:83:00.0");
    return 0;
  };
  cuda.device_get_attribute = [](int* value, int which, int device) {
    *value = device == 40 && which == 118 ? 200 : which == 116 || which == 124 ? 1 : 0;
    return attribute_result;
  };
  cuda.primary_ctx_retain = [](void**, int) { return ++contexts; };
  return cuda;
}

TEST_F(NvmlGather, CudaReportsItsGpusWithoutCreatingAContext) {
  auto facts = gather_nvml_facts(*nvml_);
  add_cuda_facts(fake_cuda(), &facts.value);
  EXPECT_EQ(facts.value.cuda_library_version.value, 13010);
  const NvmlGpu& shown = facts.value.gpus[1];
  EXPECT_TRUE(shown.cuda_rdma.value && shown.cuda_dmabuf.value);
  EXPECT_TRUE(shown.cuda_rdma_vmm.is_found() && !shown.cuda_rdma_vmm.value);
  EXPECT_EQ(shown.cuda_rdma_ordering.value, 200);
  EXPECT_EQ(facts.value.gpus[0].cuda_rdma.outcome, Outcome::unreadable);
  EXPECT_NE(facts.value.gpus[0].cuda_rdma.reason.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
  EXPECT_EQ(contexts, 0);
}

TEST_F(NvmlGather, CudaThatFailsLeavesItsFactsUnreadable) {
  auto facts = gather_nvml_facts(*nvml_);
  init_result = 100;
  add_cuda_facts(fake_cuda(), &facts.value);
  init_result = 0;
  EXPECT_EQ(facts.value.cuda_library_version.value, 13010);
  EXPECT_EQ(facts.value.gpus[1].cuda_rdma.reason, "cuInit: CUDA_ERROR_NO_DEVICE (100)");
  attribute_result = 1;
  add_cuda_facts(fake_cuda(), &facts.value);
  attribute_result = 0;
  EXPECT_EQ(facts.value.gpus[1].cuda_dmabuf.outcome, Outcome::unreadable);
  EXPECT_NE(facts.value.gpus[1].cuda_dmabuf.reason.find("attribute 124"), std::string::npos);
}

}  // namespace
}  // namespace gdrkit::diag
