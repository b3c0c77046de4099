// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/number_list.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

using Numbers = std::vector<int>;

TEST(NumberList, ReadsRangesAndSingleNumbersInAnyOrder) {
  EXPECT_EQ(*parse_number_list("0-3,8,10-11\n"), (Numbers{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(*parse_number_list("7,1-2,2"), (Numbers{1, 2, 7}));
  EXPECT_EQ(*parse_number_list("0\n"), Numbers{0});
}

TEST(NumberList, AnEmptyListIsValid) {
  EXPECT_TRUE(parse_number_list("")->empty());
  EXPECT_TRUE(parse_number_list("\n")->empty());
}

TEST(NumberList, InvalidListsAreRejectedAndQuoted) {
  for (const char* text : {"a", "0-", "-1", "3-1", "1,,2", "1,", ",1", "1;2", "0-99999999999", "65536", "1 2", "0x1"}) {
    EXPECT_TRUE(tests::failed(parse_number_list(text), EINVAL, testing::HasSubstr("'" + std::string(text) + "'")))
        << text;
  }
}

TEST(NumberList, ReportsAMissingFile) {
  EXPECT_TRUE(
      tests::failed(read_number_list(GDRKIT_TREE "/nowhere/online"), ENOENT, testing::HasSubstr("/nowhere/online")));
}

TEST(NumberList, IsWrittenInTheFormatThatItParses) {
  for (const char* text : {"", "0", "0-3,8", "1,3,5", "0-1,10-11"})
    EXPECT_EQ(to_list_text(*parse_number_list(text)), text);
}

}  // namespace
}  // namespace gdrkit::platform
