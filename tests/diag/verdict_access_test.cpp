// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "diag/doctor/verdict/access.hpp"
#include "diag/doctor/verdict/mapping.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::array answers = {Answer::no, Answer::unknown, Answer::yes};

AccessFacts all_yes() {
  AccessFacts facts;
  for (Known* fact : {&facts.gpu, &facts.adapter, &facts.path, &facts.belief, &facts.peer_memory, &facts.dmabuf_system,
                      &facts.dmabuf_gpu, &facts.dmabuf_verbs, &facts.dmabuf_allowed})
    fact->answer = Answer::yes;
  facts.path.why = "PIX";
  return facts;
}

// The whole table: 3^6 rows against the rule in other words.
TEST(VerdictAccess, HoldsForEveryRowOfTheTable) {
  unsigned rows = 0;
  for (int row = 0; row < 729; ++row) {
    const auto digit = [&](int place) { return answers[static_cast<std::size_t>(row / place % 3)]; };
    AccessFacts facts = all_yes();
    facts.gpu = {digit(1), "gpu"};
    facts.adapter = {digit(3), "adapter"};
    facts.path = {digit(9), "path"};
    facts.belief = {digit(27), "belief"};
    facts.peer_memory = {digit(81), "module"};
    facts.dmabuf_gpu = {digit(243), "dmabuf"};
    const Access access = judge(facts);
    const std::set<Answer> needed = {facts.gpu.answer, facts.adapter.answer, facts.path.answer};
    const bool by_dmabuf = facts.dmabuf_gpu.answer == Answer::yes;
    const bool by_module = facts.belief.answer == Answer::yes && facts.peer_memory.answer == Answer::yes;
    const bool no_module = facts.belief.answer == Answer::no || facts.peer_memory.answer == Answer::no;
    const bool is_impossible = needed.count(Answer::no) > 0 || (facts.dmabuf_gpu.answer == Answer::no && no_module);
    const bool is_sure = needed == std::set{Answer::yes} && (by_dmabuf || by_module);
    EXPECT_EQ(access.use, is_impossible ? Answer::no : is_sure ? Answer::yes : Answer::unknown) << "row " << row;
    EXPECT_EQ(access.via, !is_sure || is_impossible ? "" : by_dmabuf ? "dma-buf" : "peer memory") << "row " << row;
    EXPECT_FALSE(access.reason.empty());
    ++rows;
  }
  EXPECT_EQ(rows, 729u);
}

TEST(VerdictAccess, EachOfDmabufsFactsCanRuleItOutOrLeaveItOpen) {
  for (Known AccessFacts::*fact : {&AccessFacts::dmabuf_system, &AccessFacts::dmabuf_gpu, &AccessFacts::dmabuf_verbs,
                                   &AccessFacts::dmabuf_allowed}) {
    AccessFacts facts = all_yes();
    facts.belief = {Answer::no, "none"};
    facts.*fact = {Answer::no, "this one"};
    EXPECT_EQ(judge(facts).use, Answer::no);
    EXPECT_NE(judge(facts).reason.find("this one"), std::string::npos);
    facts.*fact = {Answer::unknown, "this one"};
    EXPECT_EQ(judge(facts).use, Answer::unknown);
    EXPECT_EQ(judge(facts).reason, "dma-buf: this one");
    facts.belief = {Answer::yes, "file"};
    EXPECT_EQ(judge(facts).via, "peer memory");
  }
}

TEST(VerdictAccess, TellsWhatIsBelievedAlsoWhereItIsNotTrue) {
  AccessFacts facts = all_yes();
  facts.belief = {Answer::yes, "/sys/module/nvidia_peermem/version"};
  facts.peer_memory = {Answer::no, "peer.conflict fails"};
  facts.dmabuf_system = {Answer::no, "Linux 5.4 is too old"};
  const Access access = judge(facts);
  EXPECT_EQ(access.use, Answer::no);
  EXPECT_NE(access.believes.find("peer memory yes (/sys/module/nvidia_peermem/version)"), std::string::npos);
  EXPECT_NE(access.reason.find("peer.conflict fails"), std::string::npos);
}

TEST(VerdictMapping, TakesGdrdrvThenRmAndNeedsTheGpu) {
  for (const Answer gpu : answers) {
    for (const Answer gdrdrv : answers) {
      for (const Answer rm : answers) {
        const Access access = judge_mapping({{gpu, "gpu"}, {gdrdrv, "gdrdrv"}, {rm, "rm"}});
        EXPECT_EQ(access.use, std::min(gpu, std::max(gdrdrv, rm)));
        const bool is_used = access.use == Answer::yes;
        EXPECT_EQ(access.via, !is_used ? "" : gdrdrv == Answer::yes ? "gdrdrv" : "rm");
        EXPECT_FALSE(access.reason.empty());
      }
    }
  }
}

// A version promises nothing: dmabuf alone never makes a yes.
TEST(VerdictMapping, DmabufIsUnknownAtBest) {
  const Known no = {Answer::no, "not here"};
  const Known untried = {Answer::unknown, "gdrkit info tries it"};
  const Access access = judge_mapping({{Answer::yes, "gpu"}, no, no, untried});
  EXPECT_EQ(access.use, Answer::unknown);
  EXPECT_EQ(access.via, "");
  EXPECT_NE(access.reason.find("dmabuf: gdrkit info tries it"), std::string::npos) << access.reason;
  EXPECT_EQ(judge_mapping({{Answer::yes, "gpu"}, no, {Answer::yes, "rm"}, untried}).via, "rm");
}

}  // namespace
}  // namespace gdrkit::diag::doctor
