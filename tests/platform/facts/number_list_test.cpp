// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/number_list.hpp"

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
    const auto numbers = parse_number_list(text);
    ASSERT_FALSE(numbers.has_value()) << text;
    EXPECT_EQ(numbers.error().errno_value, EINVAL) << text;
    EXPECT_NE(std::string(numbers.error().text()).find("'" + std::string(text) + "'"), std::string::npos)
        << numbers.error().text();
  }
}

TEST(NumberList, ReportsAMissingFile) {
  const auto numbers = read_number_list(GDRKIT_TREE "/nowhere/online");
  ASSERT_FALSE(numbers.has_value());
  EXPECT_EQ(numbers.error().errno_value, ENOENT);
  EXPECT_NE(std::string(numbers.error().text()).find("/nowhere/online"), std::string::npos);
}

TEST(NumberList, IsWrittenInTheFormatThatItParses) {
  for (const char* text : {"", "0", "0-3,8", "1,3,5", "0-1,10-11"})
    EXPECT_EQ(to_list_text(*parse_number_list(text)), text);
}

}  // namespace
}  // namespace gdrkit::platform
