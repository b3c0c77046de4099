// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>

#include "cli/interface/exit_code.hpp"
#include "diag/bind/gpu_choice.hpp"

namespace gdrkit::diag::bind {
namespace {

using testing::HasSubstr;

Lookup of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const cli::Failure& failure) {
    EXPECT_EQ(failure.code(), cli::ExitCode::usage);
    return failure.what();
  }
  return "";
}

TEST(LocalRankOf, SupportsEveryLauncher) {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "MPI_LOCALRANKID",
        "PALS_LOCAL_RANKID", "LOCAL_RANK", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID"}) {
    EXPECT_EQ(find_local_rank(of({{name, "3"}})).value, 3u) << name;
    EXPECT_EQ(find_local_rank(of({{name, "3"}})).variable, name);
  }
}

TEST(LocalRankOf, UsesTheInnerLauncherAndReportsTheOuter) {
  const auto rank =
      find_local_rank(of({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "5"}, {"LOCAL_RANK", "5"}}));
  EXPECT_EQ(rank.value, 5u);
  EXPECT_EQ(rank.others, (std::vector<std::string>{"SLURM_LOCALID=0"}));
}

TEST(LocalRankOf, RejectsMissingAndInvalidRanks) {
  EXPECT_THAT(refusal([] { (void)find_local_rank(of({})); }), HasSubstr("OMPI_COMM_WORLD_LOCAL_RANK"));
  for (const char* text : {"-1", "1x", "one", "99999999999999999999999"}) {
    const auto find = [&] { (void)find_local_rank(of({{"LOCAL_RANK", text}})); };
    EXPECT_THAT(refusal(find), HasSubstr("is not a rank")) << text;
  }
}

using Positions = std::vector<std::size_t>;

const std::vector<NamedGpu> equal = {{"GPU-aa11", "1", {}}, {"GPU-aa22", "1", {}}, {"GPU-bb33", "1", {}}};
const std::vector<NamedGpu> different = {{"GPU-aa11", "1", {}}, {"GPU-aa22", "2", {}}};

/// CUDA counts all GPUs.
VisibleDevices visible(const std::string& text, const std::vector<NamedGpu>& gpus, bool is_pci_order) {
  Positions all(gpus.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return parse_visible_devices(text, gpus, all, is_pci_order);
}

TEST(VisibleDevicesOf, NumbersAndUuidsResolveToPositions) {
  EXPECT_EQ(visible("2,0", equal, false).gpus, (Positions{2, 0}));
  EXPECT_EQ(visible("GPU-bb33, 1", equal, false).gpus, (Positions{2, 1}));
  EXPECT_EQ(visible("GPU-bb", equal, false).gpus, (Positions{2}));
  EXPECT_TRUE(visible("GPU-bb", equal, false).is_one_by_uuid);
  EXPECT_FALSE(visible("2", equal, false).is_one_by_uuid);
  EXPECT_EQ(visible("1", different, true).gpus, (Positions{1}));
  EXPECT_EQ(visible("GPU-aa22", different, false).gpus, (Positions{1}));
}

TEST(VisibleDevicesOf, AListEndsBeforeTheFirstInvalidEntry) {
  EXPECT_EQ(visible("1,-1,0", equal, false).gpus, (Positions{1}));
  EXPECT_EQ(visible("1,3", equal, false).gpus, (Positions{1}));
}

TEST(VisibleDevicesOf, AmbiguousValuesAreRejectedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "hides all"},     {"-1", "hides all"},      {"7", "hides all"}, {"0,0", "twice"},
      {"GPU-aa", "several"}, {"GPU-cc", "no GPU has"}, {"MIG-1234", "MIG"}};
  for (const auto& [text, part] : cases) {
    EXPECT_THAT(refusal([&, text = text] { (void)visible(text, equal, false); }), HasSubstr(part)) << text;
  }
  EXPECT_THAT(refusal([] { (void)visible("0", different, false); }), HasSubstr("PCI_BUS_ID"));
  EXPECT_THAT(refusal([] { (void)visible("GPU-a", {{"", "1", {}}}, false); }), HasSubstr("found no UUID"));
}

TEST(VisibleDevicesOf, NumbersIndexTheGpusThatCanBeOpened) {
  EXPECT_EQ(parse_visible_devices("0", equal, {2}, false).gpus, (Positions{2}));
  EXPECT_EQ(parse_visible_devices("1,0", equal, {0, 2}, false).gpus, (Positions{2, 0}));
  EXPECT_EQ(parse_visible_devices("0,2", equal, {0, 2}, false).gpus, (Positions{0}));  // there is no third GPU
  EXPECT_EQ(parse_visible_devices("0", different, {1}, false).gpus, (Positions{1}));  // a single GPU is always in order
  EXPECT_THAT(refusal([] { (void)parse_visible_devices("GPU-aa11", equal, {1, 2}, false); }), HasSubstr("cannot open"));
}

TEST(VisibleDevicesOf, AMigInstanceBelongsToTheGpuInItsNameOrToTheOnlyGpu) {
  EXPECT_EQ(visible("MIG-GPU-bb33/1/0", equal, false).gpus, (Positions{2}));
  EXPECT_EQ(parse_visible_devices("MIG-12ab,MIG-34cd", equal, {1}, false).gpus, (Positions{1}));
  EXPECT_TRUE(parse_visible_devices("MIG-12ab", equal, {1}, false).is_one_by_uuid);
  EXPECT_THAT(refusal([] { (void)visible("MIG-GPU-cc/1/0", equal, false); }), HasSubstr("no GPU has"));
}

TEST(UsableGpusOf, ContainGpusWhoseNodesCanBeOpened) {
  const std::vector<NamedGpu> gpus = {{"", "1", 3}, {"", "1", 1}, {"", "1", {}}, {"", "1", 0}};
  const auto usable = [&](bool is_live, std::vector<std::string> nodes) {
    return find_usable_gpus(gpus, is_live,
                            [nodes](const std::string& path) { return std::ranges::find(nodes, path) != nodes.end(); });
  };
  EXPECT_EQ(usable(true, {"/dev/nvidia1", "/dev/nvidia3"}).gpus, (Positions{0, 1}));
  EXPECT_TRUE(usable(true, {"/dev/nvidia1"}).is_proven);
  EXPECT_EQ(usable(false, {"/dev/nvidia0"}).gpus, (Positions{3}));
  EXPECT_FALSE(usable(false, {"/dev/nvidia0"}).is_proven);
  EXPECT_EQ(usable(true, {}).gpus, (Positions{0, 1, 2, 3}));
  EXPECT_FALSE(usable(true, {}).is_proven);
}

TEST(UsableGpusOf, ChecksNodesWithoutOpeningThem) {
  EXPECT_TRUE(can_open_node("/dev/null"));
  EXPECT_FALSE(can_open_node("/dev/gdrkit-no-such-node"));
}

/// Eight equal GPUs in a job of Slurm.
struct Job {
  std::map<std::string, std::string> variables;
  Positions usable = {0, 1, 2, 3, 4, 5, 6, 7};
  bool is_proven = false;
  bool may_wrap = false;
  std::vector<NamedGpu> gpus = std::vector<NamedGpu>(8, {"", "1", {}});

  [[nodiscard]] GpuChoice choice() const {
    const Lookup lookup = of(variables);
    return choose_gpu(lookup, find_local_rank(lookup), gpus, {usable, is_proven}, may_wrap);
  }
  [[nodiscard]] std::size_t gpu() const { return choice().gpu; }
  [[nodiscard]] std::string refused() const {
    return refusal([this] { (void)choice(); });
  }
};

TEST(GpuChoiceOf, AConstrainedJobNumbersOnlyTheGpusItCanOpen) {
  EXPECT_EQ((Job{{{"SLURM_LOCALID", "0"}, {"SLURM_STEP_GPUS", "5"}, {"CUDA_VISIBLE_DEVICES", "0"}}, {5}, true}).gpu(),
            5u);
  EXPECT_EQ((Job{{{"LOCAL_RANK", "1"}, {"CUDA_VISIBLE_DEVICES", "0,1"}}, {4, 6}, true}).gpu(), 6u);
  EXPECT_EQ((Job{{{"LOCAL_RANK", "1"}}, {4, 6}, true}).gpu(), 6u);
  EXPECT_THAT((Job{{{"LOCAL_RANK", "2"}}, {4, 6}, true}).refused(), HasSubstr("only 2 GPUs"));
  // Variables of another node do not matter if access to the device nodes was tested.
  EXPECT_EQ((Job{{{"SLURM_LOCALID", "0"}, {"SLURM_JOB_GPUS", "0"}, {"CUDA_VISIBLE_DEVICES", "0"}}, {5}, true}).gpu(),
            5u);
}

TEST(GpuChoiceOf, ASlurmTaskWithItsOwnGpuUsesIt) {
  const std::map<std::string, std::string> third = {
      {"SLURM_LOCALID", "2"}, {"SLURM_STEP_GPUS", "4,5,6,7"}, {"CUDA_VISIBLE_DEVICES", "2"}};
  EXPECT_EQ((Job{third, {4, 5, 6, 7}, true}).gpu(), 6u);  // --gpu-bind in the step's control group
  auto own_group = third;
  own_group["CUDA_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ((Job{own_group, {6}, true}).gpu(), 6u);  // --gpus-per-task: in the task's
  auto global = third;
  global["CUDA_VISIBLE_DEVICES"] = "6";
  EXPECT_EQ((Job{global, {0, 1, 2, 3, 4, 5, 6, 7}, true}).gpu(), 6u);  // without control groups
  auto of_mpirun = own_group;
  of_mpirun["OMPI_COMM_WORLD_LOCAL_RANK"] = "2";
  EXPECT_THAT((Job{of_mpirun, {6}, true}).refused(), HasSubstr("only 1 GPU"));
}

TEST(GpuChoiceOf, UsesSlurmNumbersWithoutAnOpenTest) {
  const auto job = [](const char* rank, const char* slurm, const char* visible) {
    return Job{{{"SLURM_LOCALID", rank}, {"SLURM_STEP_GPUS", slurm}, {"CUDA_VISIBLE_DEVICES", visible}}};
  };
  EXPECT_EQ(job("0", "5", "0").gpu(), 5u);
  EXPECT_EQ(job("0", "5", "5").gpu(), 5u);
  EXPECT_EQ(job("1", "4,5,6,7", "0,1,2,3").gpu(), 5u);
  EXPECT_EQ(job("1", "0-3", "0,1,2,3").gpu(), 1u);
  EXPECT_EQ(job("0", "5", "0").choice().why, "SLURM_LOCALID=0 in SLURM_STEP_GPUS=5");
  EXPECT_EQ((Job{{{"SLURM_LOCALID", "0"}, {"SLURM_JOB_GPUS", "3"}, {"CUDA_VISIBLE_DEVICES", "0"}}}).gpu(), 3u);
  EXPECT_THAT(job("0", "1,2", "1").refused(),
              HasSubstr("the choice depends on whether CUDA counts all GPUs or only those of SLURM_STEP_GPUS=1,2"));
  EXPECT_THAT(job("0", "5", "3").refused(), HasSubstr("is not in SLURM_STEP_GPUS=5"));
  EXPECT_THAT(job("0", "9", "0").refused(), HasSubstr("this machine has only 8 GPUs"));
  EXPECT_THAT(job("0", "gpu5", "0").refused(), HasSubstr("not a list of numbers"));
  EXPECT_THAT(job("3", "5", "0").refused(), HasSubstr("only 1 GPU (CUDA_VISIBLE_DEVICES)"));
}

TEST(GpuChoiceOf, RejectsConflictsWithSlurmInUnconstrainedJobs) {
  Job job{{{"SLURM_LOCALID", "0"}, {"SLURM_STEP_GPUS", "5"}, {"CUDA_VISIBLE_DEVICES", "0"}}};
  job.is_proven = true;
  EXPECT_THAT(job.refused(),
              HasSubstr("the GPU that CUDA selects (CUDA_VISIBLE_DEVICES=0) is not in SLURM_STEP_GPUS=5"));
  job.variables["CUDA_VISIBLE_DEVICES"] = "5";
  EXPECT_EQ(job.gpu(), 5u);
}

TEST(GpuChoiceOf, SlurmNumbersAreAmbiguousOutsidePciOrder) {
  Job job{{{"SLURM_LOCALID", "0"}, {"SLURM_STEP_GPUS", "1"}, {"CUDA_VISIBLE_DEVICES", "0"}}};
  job.gpus[1].minor = 2;
  EXPECT_THAT(job.refused(),
              HasSubstr("1 in SLURM_STEP_GPUS=1 is ambiguous: /dev/nvidia1, or in PCI order /dev/nvidia2"));
  job.usable = {1};
  job.is_proven = true;
  EXPECT_EQ(job.gpu(), 1u);
}

}  // namespace
}  // namespace gdrkit::diag::bind
