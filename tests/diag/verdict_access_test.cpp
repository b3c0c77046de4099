// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "diag/doctor/verdict/access.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::array judgments = {Judgment::no, Judgment::unknown, Judgment::yes};

AccessFacts all_yes() {
  AccessFacts facts;
  for (Known* fact : {&facts.gpu, &facts.adapter, &facts.path, &facts.detection, &facts.peer_memory,
                      &facts.dmabuf_system, &facts.dmabuf_gpu, &facts.dmabuf_verbs, &facts.dmabuf_allowed})
    fact->judgment = Judgment::yes;
  facts.path.why = "PIX";
  return facts;
}

// The whole table of 3^6 rows, compared with a second formulation of the rule.
TEST(VerdictAccess, HoldsForEveryRowOfTheTable) {
  unsigned rows = 0;
  for (int row = 0; row < 729; ++row) {
    const auto digit = [&](int place) { return judgments[static_cast<std::size_t>(row / place % 3)]; };
    AccessFacts facts = all_yes();
    facts.gpu = {digit(1), "gpu"};
    facts.adapter = {digit(3), "adapter"};
    facts.path = {digit(9), "path"};
    facts.detection = {digit(27), "detection"};
    facts.peer_memory = {digit(81), "module"};
    facts.dmabuf_gpu = {digit(243), "dmabuf"};
    const Access access = judge(facts);
    const std::set<Judgment> needed = {facts.gpu.judgment, facts.adapter.judgment, facts.path.judgment};
    const bool by_dmabuf = facts.dmabuf_gpu.judgment == Judgment::yes;
    const bool by_module = facts.detection.judgment == Judgment::yes && facts.peer_memory.judgment == Judgment::yes;
    const bool no_module = facts.detection.judgment == Judgment::no || facts.peer_memory.judgment == Judgment::no;
    const bool is_impossible =
        needed.count(Judgment::no) > 0 || (facts.dmabuf_gpu.judgment == Judgment::no && no_module);
    const bool is_sure = needed == std::set{Judgment::yes} && (by_dmabuf || by_module);
    EXPECT_EQ(access.use, is_impossible ? Judgment::no : is_sure ? Judgment::yes : Judgment::unknown) << "row " << row;
    EXPECT_EQ(access.via, !is_sure || is_impossible ? "" : by_dmabuf ? "dma-buf" : "peer memory") << "row " << row;
    EXPECT_FALSE(access.reason.empty());
    ++rows;
  }
  EXPECT_EQ(rows, 729u);
}

TEST(VerdictAccess, EachDmabufFactCanDenyAccessOrMakeItUnknown) {
  for (Known AccessFacts::*fact : {&AccessFacts::dmabuf_system, &AccessFacts::dmabuf_gpu, &AccessFacts::dmabuf_verbs,
                                   &AccessFacts::dmabuf_allowed}) {
    AccessFacts facts = all_yes();
    facts.detection = {Judgment::no, "none"};
    facts.*fact = {Judgment::no, "this one"};
    EXPECT_EQ(judge(facts).use, Judgment::no);
    EXPECT_NE(judge(facts).reason.find("this one"), std::string::npos);
    facts.*fact = {Judgment::unknown, "this one"};
    EXPECT_EQ(judge(facts).use, Judgment::unknown);
    EXPECT_EQ(judge(facts).reason, "dma-buf: this one");
    facts.detection = {Judgment::yes, "file"};
    EXPECT_EQ(judge(facts).via, "peer memory");
  }
}

TEST(VerdictAccess, ReportsTheDetectionEvenIfItIsWrong) {
  AccessFacts facts = all_yes();
  facts.detection = {Judgment::yes, "/sys/module/nvidia_peermem/version"};
  facts.peer_memory = {Judgment::no, "peer.conflict fails"};
  facts.dmabuf_system = {Judgment::no, "Linux 5.4 is too old"};
  const Access access = judge(facts);
  EXPECT_EQ(access.use, Judgment::no);
  EXPECT_NE(access.detection.find("peer memory yes (/sys/module/nvidia_peermem/version)"), std::string::npos);
  EXPECT_NE(access.reason.find("peer.conflict fails"), std::string::npos);
}

TEST(VerdictMapping, PrefersGdrdrvToRmAndRequiresTheGpu) {
  for (const Judgment gpu : judgments) {
    for (const Judgment gdrdrv : judgments) {
      for (const Judgment rm : judgments) {
        const Access access = judge_mapping({{gpu, "gpu"}, {gdrdrv, "gdrdrv"}, {rm, "rm"}});
        EXPECT_EQ(access.use, std::min(gpu, std::max(gdrdrv, rm)));
        const bool is_used = access.use == Judgment::yes;
        EXPECT_EQ(access.via, !is_used ? "" : gdrdrv == Judgment::yes ? "gdrdrv" : "rm");
        EXPECT_FALSE(access.reason.empty());
      }
    }
  }
}

// A version proves nothing: dmabuf never yields a yes.
TEST(VerdictMapping, DmabufIsUnknownAtBest) {
  const Known no = {Judgment::no, "not here"};
  const Known untried = {Judgment::unknown, "gdrkit info tries it"};
  const Access access = judge_mapping({{Judgment::yes, "gpu"}, no, no, untried});
  EXPECT_EQ(access.use, Judgment::unknown);
  EXPECT_EQ(access.via, "");
  EXPECT_NE(access.reason.find("dmabuf: gdrkit info tries it"), std::string::npos) << access.reason;
  EXPECT_EQ(judge_mapping({{Judgment::yes, "gpu"}, no, {Judgment::yes, "rm"}, untried}).via, "rm");
}

}  // namespace
}  // namespace gdrkit::diag::doctor
