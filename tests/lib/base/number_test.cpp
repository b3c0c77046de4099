// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "base/number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gdrkit::base {
namespace {

TEST(Number, IsParsedIfItIsTheWholeText) {
  int integer = 0;
  EXPECT_TRUE(parse_number("-12", &integer));
  EXPECT_EQ(integer, -12);
  EXPECT_TRUE(parse_number("ff", &integer, 16));
  EXPECT_EQ(integer, 255);
  double real = 0;
  EXPECT_TRUE(parse_number("1.5e3", &real));
  EXPECT_EQ(real, 1500);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.5", "2147483648", "one"}) {
    EXPECT_FALSE(parse_number(text, &integer)) << text;
  }
}

TEST(Number, IsHexadecimalAfterAPrefix) {
  std::uint32_t number = 0;
  EXPECT_TRUE(parse_prefixed_number("0x1f", &number));
  EXPECT_EQ(number, 31u);
  EXPECT_TRUE(parse_prefixed_number("31", &number));
  EXPECT_EQ(number, 31u);
  for (const char* text : {"", "0x", "1f", "0X1f", "0x0x1", "-1"}) {
    EXPECT_FALSE(parse_prefixed_number(text, &number)) << text;
  }
}

}  // namespace
}  // namespace gdrkit::base
