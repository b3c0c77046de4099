// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <map>

#include "cli/common/exit_code.hpp"
#include "diag/bind/local_rank.hpp"
#include "diag/bind/visible_devices.hpp"

namespace gdrkit::tools {
namespace {

Lookup of(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::usage);
    return failure.what();
  }
  return "";
}

TEST(LocalRankOf, EveryLauncherIsUnderstood) {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "PMI_LOCAL_RANK", "MPI_LOCALRANKID",
        "PALS_LOCAL_RANKID", "LOCAL_RANK", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID"}) {
    EXPECT_EQ(find_local_rank(of({{name, "3"}})).value, 3u) << name;
    EXPECT_EQ(find_local_rank(of({{name, "3"}})).variable, name);
  }
}

TEST(LocalRankOf, TheInnerLauncherCountsAndTheOtherIsTold) {
  const auto rank =
      find_local_rank(of({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "5"}, {"LOCAL_RANK", "5"}}));
  EXPECT_EQ(rank.value, 5u);
  EXPECT_EQ(rank.others, (std::vector<std::string>{"SLURM_LOCALID=0"}));
}

TEST(LocalRankOf, NoneAndNonsenseAreRefused) {
  EXPECT_NE(refusal([] { (void)find_local_rank(of({})); }).find("OMPI_COMM_WORLD_LOCAL_RANK"), std::string::npos);
  for (const char* text : {"-1", "1x", "one", "99999999999999999999999"}) {
    EXPECT_NE(refusal([&] {
                (void)find_local_rank(of({{"LOCAL_RANK", text}}));
              }).find("no rank"),
              std::string::npos)
        << text;
  }
}

const std::vector<NamedGpu> equal = {{"GPU-aa11", "1"}, {"GPU-aa22", "1"}, {"GPU-bb33", "1"}};
const std::vector<NamedGpu> different = {{"GPU-aa11", "1"}, {"GPU-aa22", "2"}};

TEST(VisibleDevicesOf, NumbersAndUuidsGivePositions) {
  EXPECT_EQ(parse_visible_devices("2,0", equal, false).gpus, (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(parse_visible_devices("GPU-bb33, 1", equal, false).gpus, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(parse_visible_devices("GPU-bb", equal, false).gpus, (std::vector<std::size_t>{2}));
  EXPECT_TRUE(parse_visible_devices("GPU-bb", equal, false).is_one_by_uuid);
  EXPECT_FALSE(parse_visible_devices("2", equal, false).is_one_by_uuid);
  EXPECT_EQ(parse_visible_devices("1", different, true).gpus, (std::vector<std::size_t>{1}));
  EXPECT_EQ(parse_visible_devices("GPU-aa22", different, false).gpus, (std::vector<std::size_t>{1}));
}

TEST(VisibleDevicesOf, AListEndsBeforeTheFirstThatIsNone) {
  EXPECT_EQ(parse_visible_devices("1,-1,0", equal, false).gpus, (std::vector<std::size_t>{1}));
  EXPECT_EQ(parse_visible_devices("1,3", equal, false).gpus, (std::vector<std::size_t>{1}));
}

TEST(VisibleDevicesOf, WhatCannotBeKnownIsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "hides all"},     {"-1", "hides all"},      {"7", "hides all"}, {"0,0", "twice"},
      {"GPU-aa", "several"}, {"GPU-cc", "no GPU has"}, {"MIG-1234", "MIG"}};
  for (const auto& [text, part] : cases) {
    const std::string found = refusal([&, text = text] { (void)parse_visible_devices(text, equal, false); });
    EXPECT_NE(found.find(part), std::string::npos) << text << ": " << found;
  }
  EXPECT_NE(refusal([] { (void)parse_visible_devices("0", different, false); }).find("PCI_BUS_ID"), std::string::npos);
  EXPECT_NE(refusal([] {
              (void)parse_visible_devices("GPU-a", {{"", "1"}}, false);
            }).find("not known here"),
            std::string::npos);
}

}  // namespace
}  // namespace gdrkit::tools
