// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/nvml_facts.hpp"

#include <gtest/gtest.h>

#include <random>
#include <type_traits>

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

/// Facts of every outcome, with the awkward values among them.
class RandomFacts {
 public:
  explicit RandomFacts(unsigned seed) : chance_(seed) {}

  Fact<NvmlFacts> document() {
    Fact<NvmlFacts> facts;
    facts.outcome = static_cast<Outcome>(below(8) == 0 ? 1 + below(3) : 0);
    if (!facts.is_found()) {
      facts.reason = text();
      return facts;
    }
#define GDRKIT_NVML_SYSTEM(type, name) fill(&facts.value.name);
#include "diag/machine/nvml_facts.def"
    for (unsigned i = 0, count = below(5); i < count; ++i) facts.value.gpus.push_back(gpu());
    for (std::size_t second = 1; second < facts.value.gpus.size(); ++second) {
      NvmlPair& pair = facts.value.pairs.emplace_back();
      pair.first = below(static_cast<unsigned>(second));
      pair.second = second;
#define GDRKIT_NVML_PAIR(type, name) fill(&pair.name);
#include "diag/machine/nvml_facts.def"
    }
    return facts;
  }

 private:
  NvmlGpu gpu() {
    NvmlGpu gpu;
    gpu.index = below(100);
#define GDRKIT_NVML_GPU(type, name) fill(&gpu.name);
#include "diag/machine/nvml_facts.def"
    for (unsigned i = 0, count = below(4); i < count; ++i) {
      NvmlLink& link = gpu.links.emplace_back();
      link.index = i;
#define GDRKIT_NVML_LINK(type, name) fill(&link.name);
#include "diag/machine/nvml_facts.def"
    }
    return gpu;
  }

  template <class T>
  void fill(Fact<T>* fact) {
    fact->outcome = static_cast<Outcome>(below(4));
    if (!fact->is_found()) {
      fact->reason = text();
    } else if constexpr (std::is_same_v<T, bool>) {
      fact->value = below(2) != 0;
    } else if constexpr (std::is_same_v<T, std::string>) {
      fact->value = text();
    } else {
      constexpr std::int64_t awkward[] = {0,        1, INT32_MAX, std::int64_t{1} << 53, (std::int64_t{1} << 53) + 1,
                                          INT64_MAX};
      fact->value = awkward[below(6)];
    }
  }
  std::string text() {
    constexpr const char* texts[] = {"", "NVIDIA H200", "\"quoted\" \\ and / and \t", "0-31,64-95", "\xc3\xa4", "{}"};
    return texts[below(6)];
  }
  unsigned below(unsigned limit) { return static_cast<unsigned>(chance_() % limit); }

  std::mt19937 chance_;
};

TEST(NvmlFacts, RoundTripExactly) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto facts = RandomFacts(seed).document();
    const std::string text = to_json_text(facts);
    const auto back = parse_nvml_facts(text);
    ASSERT_TRUE(facts == back) << seed << "\n" << text;
    ASSERT_EQ(to_json_text(back), text);
  }
}

TEST(NvmlFacts, AreFoundByAddress) {
  const auto facts =
      parse_nvml_facts(R"({"schema":"gdrkit.nvml/1","gpus":[{"index":0,"address":"0000:03:00.0","links":[]},
    {"index":1,"address":"0000:04:00.0","links":[]},{"index":2,"links":[]}],"pairs":[{"first":0,"second":1,"p2p_read":5}]})");
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  ASSERT_NE(facts.value.gpu_at("0000:04:00.0"), nullptr);
  EXPECT_EQ(facts.value.gpu_at("0000:04:00.0")->index, 1);
  EXPECT_EQ(facts.value.gpu_at(""), nullptr);
  const NvmlPair* pair = facts.value.pair_of("0000:04:00.0", "0000:03:00.0");
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->p2p_read.value, 5);
  EXPECT_EQ(facts.value.pair_of("0000:04:00.0", "0000:04:00.0"), nullptr);
}

TEST(NvmlFacts, DistinguishesMissingFieldsFromWrongTypes) {
  const auto facts = parse_nvml_facts(R"({"schema":"gdrkit.nvml/1","cuda_version":"12.8","cc_enabled":1,
    "cc_environment":-1,"cc_multi_gpu":9223372036854775808,"gpus":[],"pairs":[]})");
  ASSERT_TRUE(facts.is_found()) << facts.reason;
  EXPECT_EQ(facts.value.driver_version.outcome, Outcome::unreadable);
  EXPECT_NE(facts.value.driver_version.reason.find("'driver_version' is not recorded"), std::string::npos);
  EXPECT_EQ(facts.value.cuda_version.outcome, Outcome::malformed);
  EXPECT_EQ(facts.value.cc_enabled.outcome, Outcome::malformed);
  EXPECT_EQ(facts.value.cc_environment.outcome, Outcome::malformed);
  EXPECT_EQ(facts.value.cc_multi_gpu.outcome, Outcome::malformed);
}

// Parsing a list of a million objects would take minutes.
TEST(NvmlFacts, RejectsHugeDocumentsWithoutParsingThem) {
  std::string text = R"({"schema":"gdrkit.nvml/1","gpus":[{})";
  for (int i = 0; i < 1'000'000; ++i) text += ",{}";
  EXPECT_EQ(parse_nvml_facts(text + "]}").outcome, Outcome::malformed);
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(parse_nvml_facts(R"({"schema":"gdrkit.nvml/1","gpus":)" + deep).outcome, Outcome::malformed);
  // Brackets in strings do not count.
  std::string named = R"({"schema":"gdrkit.nvml/1","driver_version":"\"[[[[[[[[[[[[[[[[","gpus":[],"pairs":[]})";
  EXPECT_NE(parse_nvml_facts(named).outcome, Outcome::malformed);
}

TEST(NvmlFacts, RejectsOtherDocuments) {
  const std::string start = R"({"schema":"gdrkit.nvml/1",)";
  std::string many_gpus = start + R"("pairs":[],"gpus":[)";
  for (std::size_t i = 0; i <= most_nvml_gpus; ++i)
    many_gpus += std::string(i > 0 ? "," : "") + R"({"index":0,"links":[]})";
  for (const std::string& text : std::vector<std::string>{
           "", "[]", "{", R"({"schema":"gdrkit.nvml/2","gpus":[],"pairs":[]})", start + R"("gpus":{},"pairs":[]})",
           start + R"("gpus":[]})", start + R"("gpus":[1],"pairs":[]})", start + R"("gpus":[{"index":0}],"pairs":[]})",
           start + R"("gpus":[{"index":-1,"links":[]}],"pairs":[]})",
           start + R"("gpus":[],"pairs":[{"first":0,"second":0}]})",
           start + R"("gpus":[{"index":0,"links":[]}],"pairs":[{"first":0,"second":1}]})", many_gpus + "]}",
           std::string(200000, '['),
           start + R"("gpus":)" + std::string(100000, '[') + std::string(100000, ']') + "}"}) {
    const auto facts = parse_nvml_facts(text);
    EXPECT_EQ(facts.outcome, Outcome::malformed) << text.substr(0, 200);
    EXPECT_NE(facts.reason.find(nvml_recording), std::string::npos);
  }
}

}  // namespace
}  // namespace gdrkit::diag
