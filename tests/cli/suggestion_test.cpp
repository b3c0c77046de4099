// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/suggestion.hpp"

#include <gtest/gtest.h>

namespace gdrkit::cli {
namespace {

TEST(Suggestion, DistanceCountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("copylat", "copylat"), 0u);
  EXPECT_EQ(edit_distance("copylat", "copylatt"), 1u);
  EXPECT_EQ(edit_distance("copylat", "copyat"), 1u);
  EXPECT_EQ(edit_distance("copylat", "copybat"), 1u);
  EXPECT_EQ(edit_distance("copylat", "coyplat"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggestion, SuggestsTheNearestWordUnlessItIsDistant) {
  const std::vector<std::string> known = {"copylat", "copybw", "bench", "bandwidth", "env", "doctor"};
  EXPECT_EQ(nearest_word("copylatt", known), "copylat");
  EXPECT_EQ(nearest_word("docter", known), "doctor");
  EXPECT_EQ(nearest_word("bnech", known), "bench");
  EXPECT_EQ(nearest_word("band", known), "bandwidth") << "the only one that begins so";
  EXPECT_EQ(nearest_word("copy", known), "") << "two begin so";
  EXPECT_EQ(nearest_word("xyz", known), "");
  EXPECT_EQ(nearest_word("", known), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'a'), known), "");
  EXPECT_EQ(did_you_mean("copylatt", known), "; did you mean 'copylat'?");
  EXPECT_EQ(did_you_mean("nothing", known), "");
}

}  // namespace
}  // namespace gdrkit::cli
