// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "measure/bench/options.hpp"
#include "measure/bench/section.hpp"

namespace gdrkit::measure::bench {
namespace {

BenchOptions parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  BenchOptions options;
  const auto ended =
      parse_bench_options(cli::Front::gdrkit, static_cast<int>(pointers.size()), pointers.data(), &options);
  EXPECT_FALSE(ended.has_value());
  return options;
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    (void)parsed(words);
  } catch (const cli::Failure& failure) {
    EXPECT_EQ(failure.code(), cli::ExitCode::usage);
    return failure.what();
  }
  return "";
}

TEST(BenchOptions, SizesAreUniqueSortedAndAcceptUnits) {
  EXPECT_EQ(parse_sizes("4096,8,1M,64K,8"), (std::vector<std::size_t>{8, 4096, 65536, 1048576}));
  EXPECT_EQ(parse_sizes("64G"), (std::vector<std::size_t>{std::size_t{1} << 36}));
}

TEST(BenchOptions, ReportsInvalidSizes) {
  for (const std::string text :
       {"0", "8,", "K", "-1", "1.5", "8x", "65G", "99999999999999999999", "18446744073709551615G"}) {
    const std::string sentence = complaint({"--sizes=" + text});
    EXPECT_NE(sentence.find("is not a size"), std::string::npos) << text;
  }
}

TEST(BenchOptions, BothOptionNamesAcceptKnownSections) {
  EXPECT_EQ(parsed({}).sections.size(), all_sections().size());
  EXPECT_EQ(parsed({"--only", "costs"}).sections, (std::vector<std::string>{"costs"}));
  EXPECT_EQ(parsed({"--sections", "costs,copies,costs"}).sections, (std::vector<std::string>{"costs", "copies"}));
  EXPECT_NE(complaint({"--sections", "nothing"}).find("the sections are copies, costs"), std::string::npos);
}

TEST(BenchOptions, JsonAcceptsAnOptionalFile) {
  EXPECT_TRUE(parsed({"--json"}).common.json.is_on_stdout());
  EXPECT_TRUE(parsed({"--json", "--quick"}).is_quick);
  EXPECT_TRUE(parsed({"--json", "-"}).common.json.is_on_stdout());
  EXPECT_EQ(parsed({"--json", "file"}).common.json.path, "file");
  EXPECT_EQ(parsed({"--json=true"}).common.json.path, "true");
  EXPECT_FALSE(parsed({"--quick"}).common.json.is_given);
  EXPECT_TRUE(parsed({"--csv"}).is_document_on_stdout());
  EXPECT_FALSE(parsed({"--csv", "file", "--json", "other"}).is_document_on_stdout());
}

TEST(BenchOptions, TimeBudgetScalesWithRounds) {
  EXPECT_EQ(parsed({}).effort().rounds, Effort().rounds);
  EXPECT_LT(parsed({"--quick"}).effort().rounds, Effort().rounds);
  const Effort more = parsed({"--rounds", "102"}).effort();
  EXPECT_EQ(more.rounds, 102);
  EXPECT_DOUBLE_EQ(more.budget_ns, 2 * Effort().budget_ns);
  for (const char* text : {"2", "0", "-3", "many", "3.5", "10001"}) {
    EXPECT_NE(complaint({std::string("--rounds=") + text}).find("rounds"), std::string::npos) << text;
  }
}

TEST(BenchOptions, DependentOptionsRequireEachOther) {
  EXPECT_NE(complaint({"--with", "new.json"}).find("--compare"), std::string::npos);
  EXPECT_NE(complaint({"--force"}).find("--compare"), std::string::npos);
  EXPECT_NE(complaint({"--compare", "a", "--with", "b", "--csv", "c"}).find("without measuring"), std::string::npos);
}

TEST(BenchOptions, RejectsTheSameFileTwice) {
  EXPECT_NE(complaint({"--json", "a", "--csv", "./a"}).find("same file"), std::string::npos);
  EXPECT_NE(complaint({"--json", "old", "--compare", "./old"}).find("--compare reads"), std::string::npos);
  EXPECT_NE(complaint({"--csv", "old", "--compare", "old"}).find("--compare reads"), std::string::npos);
  EXPECT_NE(complaint({"--csv", "-", "--json"}).find("standard output"), std::string::npos);
  EXPECT_EQ(complaint({"--json", "-", "--csv", "a", "--compare", "b"}), "");
  EXPECT_EQ(complaint({"--json", "/dev/null", "--csv", "/dev/null"}), "");
}

TEST(BenchOptions, PassesTheSameOptionsToOtherProcesses) {
  const auto again = [](const std::vector<std::string>& words) {
    std::vector<std::string> arguments = parsed(words).arguments_for(3, {"--part", "1/3"});
    arguments.erase(arguments.begin());  // the subcommand
    return parsed(arguments);
  };
  const BenchOptions other = again({"--quick", "--only", "gpus,costs", "--sizes", "4K,8", "--rounds", "7", "--device",
                                    "2", "--backend", "rm", "--copy-kernel", "avx2", "--json", "file", "--csv", "-"});
  EXPECT_TRUE(other.is_quick && other.common.quiet && other.common.json.is_on_stdout() && !other.csv.is_given);
  EXPECT_EQ(other.sections, (std::vector<std::string>{"gpus", "costs"}));
  EXPECT_EQ(other.sizes, (std::vector<std::size_t>{8, 4096}));
  EXPECT_EQ(other.rounds, 7);
  EXPECT_EQ(other.common.device, 2);
  EXPECT_EQ(other.common.backend, "rm");
  EXPECT_EQ(other.common.copy_kernel, "avx2");
  EXPECT_EQ(other.cpu, 3);
  EXPECT_EQ(other.part->number, 1);
  EXPECT_EQ(other.part->of, 3);
  EXPECT_TRUE(again({"--no-bind"}).numa.no_bind);
  EXPECT_EQ(again({}).sections, parsed({}).sections);
}

TEST(Effort, OmitsSingleTimesIfThereAreTooFew) {
  const Effort effort;
  EXPECT_EQ(effort.request(100).single_operations, effort.most_singles);
  EXPECT_EQ(effort.request(effort.singles_ns / 50).single_operations, 0u);
  EXPECT_EQ(effort.request(effort.singles_ns / 200).single_operations, 200u);
}

}  // namespace
}  // namespace gdrkit::measure::bench
