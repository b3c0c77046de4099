// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/identifiers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace gdrkit::diag::snapshot {
namespace {

using Where = Identifiers::Where;

class IdentifiersTest : public testing::Test {
 protected:
  [[nodiscard]] std::string prose(const std::string& text) const { return identifiers_.replaced(text, Where::prose); }

  SaltedHash hash_{{1, 2}};
  Identifiers identifiers_{hash_};
};

TEST(SaltedHash, IsSipHash) {
  // The reference implementation's vectors: key 00 01 .. 0f, messages of 0 and of 15 bytes.
  const SaltedHash hash({0x0706050403020100, 0x0f0e0d0c0b0a0908});
  EXPECT_EQ(hash.value(""), 0x726fdb47dd0e0e31u);
  std::string message;
  for (char byte = 0; byte < 15; ++byte) message += byte;
  EXPECT_EQ(hash.value(message), 0xa129ca6149be45e5u);
}

TEST(SaltedHash, PreservesSubnetsOfAddresses) {
  const SaltedHash hash(SaltedHash::random_salt());
  const auto one = hash.address({10, 1, 2, 3});
  const auto near = hash.address({10, 1, 2, 200});
  const auto far = hash.address({10, 9, 2, 3});
  EXPECT_EQ(one[0], 10);
  EXPECT_EQ((std::array{one[0], one[1], one[2]}), (std::array{near[0], near[1], near[2]}));
  EXPECT_NE(one[3], near[3]);
  EXPECT_NE(one[1], far[1]);
  EXPECT_EQ(hash.address({192, 168, 7, 1})[1], 168);
  for (const auto& common :
       {std::array<std::uint8_t, 4>{127, 0, 0, 1}, {0, 0, 0, 0}, {255, 255, 255, 0}, {224, 0, 0, 1}})
    EXPECT_EQ(hash.address(common), common);
}

TEST_F(IdentifiersTest, KeepsOtherText) {
  for (const char* text : {"0000:3b:00.0", "NVRM version: 580.159.04", "5.8-1.1.2.1", "12:34:56", "2.5.1.4.7",
                           "00:00:00:00:00:00", "0000:0000:0000:0000", "127.0.0.1", "::1", "serial8250: ttyS0",
                           "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "pci=config_acs=xx110x1@0000:01:00.0",
                           "root=/dev/sda1", "0x0000020000000000", "a::b::c", ""})
    EXPECT_EQ(prose(text), text);
}

TEST_F(IdentifiersTest, ReplacesIdentifiersWithTheSameFormat) {
  const std::pair<const char*, const char*> cases[] = {
      {"b83f:d203:0012:4c6e", "xxxx:xxxx:xxxx:xxxx"},
      {"b8:3f:d2:12:4c:6e", "xx:xx:xx:xx:xx:xx"},
      {"10.31.7.42", ""},
      {"2a01:4f8:123::17", ""},
      {"fe80::ba3f:d2ff:fe12:4c6e", ""},
      {"alice@frost", ""},
      {"/home/alice/x", ""},
      {"enxb83fd2124c6e", ""},
      {"Serial Number: 1653923001234", ""},
      {"d2a1f0c3-5b7e-4c19-9f0e-1a2b3c4d5e6f", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"}};
  for (const auto& [text, form] : cases) {
    const std::string other = prose(text);
    EXPECT_NE(other, text);
    EXPECT_EQ(prose(text), other) << "equal stays equal";
    EXPECT_EQ(prose(std::string("[") + text + "]"), "[" + other + "]");
    for (std::size_t i = 0; form[0] != '\0' && i < other.size(); ++i) {
      EXPECT_EQ(form[i] == 'x', std::isxdigit(static_cast<unsigned char>(other[i])) != 0) << other;
    }
  }
  EXPECT_EQ(identifiers_.replaced("10.31.7.42", Where::anywhere), "10.31.7.42");
}

TEST_F(IdentifiersTest, RegisteredWordsAreReplacedAsAWhole) {
  identifiers_.add("frost", "H");
  identifiers_.add("frost17", "G");
  EXPECT_EQ(prose("frost frost17, frosty defrost frost-1 /frost/"), "H G, frosty defrost H-1 /H/");
  EXPECT_EQ(prose("FROST17 Frost17-ib0 mgmt_frost17 xfrost17"), "G G-ib0 mgmt_G xfrost17") << "names that contain it";
  identifiers_.add("dgx", "D");
  EXPECT_EQ(prose("dgx DGX dgx-h100"), "D DGX dgx-h100") << "a short word may mean a product";
}

TEST_F(IdentifiersTest, AddressesAreFoundWithoutTheirColons) {
  identifiers_.add_address("b8:3f:d2:12:4c:6e");
  std::string colons = prose("b8:3f:d2:12:4c:6e");
  EXPECT_EQ(prose("BOOTIF=01-B8-3F-D2-12-4C-6E").size(), std::string("BOOTIF=01-B8-3F-D2-12-4C-6E").size());
  EXPECT_EQ(prose("b8-3f-d2-12-4c-6e").substr(3, 2), colons.substr(3, 2)) << "equal stays equal";
  std::erase(colons, ':');
  EXPECT_EQ(prose("mac=0xB83FD2124C6E"), "mac=0x" + colons);
  EXPECT_EQ(prose("0x380000000000 b83fd2124c6e0"), "0x380000000000 b83fd2124c6e0") << "other numbers stay";
  EXPECT_EQ(prose("BOOTIF=01-b8-3f-d2-12-4c-6e").find("3f-d2"), std::string::npos);
}

TEST_F(IdentifiersTest, PasswordsAreOverwritten) {
  EXPECT_EQ(prose("username=x,password=hunter2,vers=3"), "username=x,password=redacted,vers=3");
  EXPECT_EQ(prose("https://alice:hunter2@proxy:80/"), "https://redacted@proxy:80/");
  EXPECT_EQ(prose("tcp://10.0.0.x:99 mytoken=1"), "tcp://10.0.0.x:99 mytoken=1");
}

}  // namespace
}  // namespace gdrkit::diag::snapshot
