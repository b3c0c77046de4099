// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/facts/pci_address.hpp"
#include "support/results.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace gdrkit::platform {
namespace {

TEST(PciAddress, ReadsTheSpellingOfSysfsAndWritesItBack) {
  const auto address = tests::value_or_throw(parse_pci_address("0000:3b:00.0"));
  EXPECT_EQ(address, (PciAddress{0, 0x3b, 0, 0}));
  EXPECT_EQ(to_string(address), "0000:3b:00.0");
}

TEST(PciAddress, ReadsTheSpellingsOfTheVendorLibraries) {
  EXPECT_EQ(*parse_pci_address("00000000:3B:00.0"), (PciAddress{0, 0x3b, 0, 0}));
  EXPECT_EQ(*parse_pci_address("3b:1f.7"), (PciAddress{0, 0x3b, 0x1f, 7}));
  EXPECT_EQ(*parse_pci_address("0001:af:00"), (PciAddress{1, 0xaf, 0, 0}));
}

TEST(PciAddress, KeepsADomainThatNeedsMoreThanFourDigits) {
  const auto address = tests::value_or_throw(parse_pci_address("10000:e1:00.0"));
  EXPECT_EQ(address.domain, 0x10000u);
  EXPECT_EQ(to_string(address), "10000:e1:00.0");
}

class NotAPciAddress : public testing::TestWithParam<const char*> {};

TEST_P(NotAPciAddress, IsRejectedWithTheTextInTheDetail) {
  EXPECT_TRUE(tests::failed(parse_pci_address(GetParam()), EINVAL, testing::HasSubstr(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Spellings, NotAPciAddress,
                         testing::Values("", ":", "3b", "0000:3b:00.8", "0000:3b:20.0", "0000:100:00.0", "0000:3b:00.",
                                         "0000:3b:00.0 ", "0x0:3b:00.0", "-1:3b:00.0", "a:b:c:d.0", "0000:3b:00.0.0",
                                         "100000000:3b:00.0"));

TEST(PciAddress, OrdersByDomainThenBus) {
  EXPECT_LT((PciAddress{0, 0xff, 0, 0}), (PciAddress{1, 0, 0, 0}));
  EXPECT_LT((PciAddress{0, 0x3b, 0, 0}), (PciAddress{0, 0xaf, 0, 0}));
}

}  // namespace
}  // namespace gdrkit::platform
