// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The message authentication codes against published values: those of RFC 7693, of BLAKE2's and of SipHash's reference
// implementation (keys 00 01 02 ..., messages 00 01 02 ...).
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "shmem/secret/blake2s.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::secret {
namespace {

std::string hex(Bytes bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::vector<std::uint8_t> count_up(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  return bytes;
}

TEST(Blake2s, MatchesThePublishedValues) {
  EXPECT_EQ(hex(blake2s({}, {bytes_of("abc")})), "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
  const auto key = count_up(32);
  const struct {
    std::size_t size;
    const char* digest;
  } published[] = {{0, "48a8997da407876b3d79c0d92325ad3b89cbb754d86ab71aee047ad345fd2c49"},
                   {1, "40d15fee7c328830166ac3f918650f807e7e01e177258cdc0a39b11f598066f1"},
                   {63, "c65382513f07460da39833cb666c5ed82e61b9e998f4b0c4287cee56c3cc9bcd"},
                   {64, "8975b0577fd35566d750b362b0897a26c399136df07bababbde6203ff2954ed4"},
                   {65, "21fe0ceb0052be7fb0f004187cacd7de67fa6eb0938d927677f2398c132317a8"},
                   {128, "0c311f38c35a4fb90d651c289d486856cd1413df9b0677f53ece2cd9e477c60a"},
                   {255, "3fb735061abc519dfe979e54c1ee5bfad0a9d858b3315bad34bde999efd724dd"}};
  for (const auto& [size, digest] : published) {
    const auto message = count_up(size);
    for (const std::size_t cut : {std::size_t{0}, size / 3, size}) {
      EXPECT_EQ(hex(blake2s(key, {Bytes(message).first(cut), Bytes(message).subspan(cut)})), digest) << size;
    }
  }
}

TEST(SipHash, MatchesThePublishedValues) {
  SipKey key;
  std::iota(key.begin(), key.end(), std::uint8_t{0});
  const struct {
    std::size_t size;
    const char* tag;
    const char* short_tag;
  } published[] = {{0, "a3817f04ba25a8e66df67214c7550293", "310e0edd47db6f72"},
                   {1, "da87c1d86b99af44347659119b22fc45", "fd67dc93c539f874"},
                   {7, "a1f1ebbed8dbc153c0b84aa61ff08239", "37d1018bf50002ab"},
                   {8, "3b62a9ba6258f5610f83e264f31497b4", "6224939a79f5f593"},
                   {9, "264499060ad9baabc47f8b02bb6d71ed", "b0e4a90bdf82009e"},
                   {63, "5150d1772f50834a503e069a973fbd7c", "724506eb4c328a95"}};
  for (const auto& [size, tag, short_tag] : published) {
    const auto message = count_up(size);
    EXPECT_EQ(hex(siphash(key, {}, message)), tag) << size;
    const std::size_t head = size / 8 * 8;
    EXPECT_EQ(hex(siphash(key, Bytes(message).first(head), Bytes(message).subspan(head))), tag) << size;
    EXPECT_EQ(hex(bytes_of(siphash_64(key, message))), short_tag) << size;
  }
}

TEST(DeriveKey, DiffersByKeyPurposeAndContext) {
  Key key{};
  const Key one = derive_key(key, "one");
  EXPECT_EQ(one, derive_key(key, "one"));
  EXPECT_NE(one, key);
  EXPECT_NE(one, derive_key(key, "two"));
  EXPECT_NE(one, derive_key(key, "one", {bytes_of("a")}));
  EXPECT_NE(derive_key(key, "one", {bytes_of("a"), bytes_of("b")}), derive_key(key, "one", {bytes_of("ab")}));
  key[31] = 1;
  EXPECT_NE(one, derive_key(key, "one"));
}

TEST(AreEqual, ComparesSizes) {
  const auto bytes = count_up(16);
  EXPECT_TRUE(are_equal(bytes, count_up(16)));
  EXPECT_FALSE(are_equal(bytes, count_up(15)));
  auto other = bytes;
  other[15] ^= 0x80;
  EXPECT_FALSE(are_equal(bytes, other));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::secret
