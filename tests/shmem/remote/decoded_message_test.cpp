// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The checks of a message before its fields are used, and the limits of the fields.
#include "shmem/remote/decoded_message.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "shmem/remote/message_keys.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

constexpr int n_pes = 4;

std::vector<std::uint8_t> block_of(const RemoteMessage& message, std::size_t data_bytes) {
  std::vector<std::uint8_t> block(sizeof message + data_bytes, 7);
  std::memcpy(block.data(), &message, sizeof message);
  return block;
}

RemoteMessage message_of(RemoteMessageKind kind) {
  RemoteMessage message;
  message.kind = kind;
  message.from = 1;
  message.number = 1;
  message.request = 1;
  message.size_bytes = 8;
  message.word_bytes = 8;
  return message;
}

bool is_sound(const RemoteMessage& message, std::size_t data_bytes) {
  const auto block = block_of(message, data_bytes);
  const auto decoded = decode_message(block, {}, 0, n_pes);
  return decoded && has_sound_fields(*decoded, n_pes);
}

TEST(DecodedMessage, IsNoneOfAnotherShape) {
  const RemoteMessage message = message_of(RemoteMessageKind::put);
  const auto block = block_of(message, 8);
  const std::uint8_t more[8] = {};
  EXPECT_TRUE(decode_message(block, {}, 0, n_pes));
  EXPECT_FALSE(decode_message({}, {}, 0, n_pes));
  EXPECT_FALSE(decode_message(secret::Bytes(block).first(sizeof message - 1), {}, 0, n_pes));
  EXPECT_FALSE(decode_message(block, more, 0, n_pes)) << "data in both places";
  EXPECT_TRUE(decode_message(secret::Bytes(block).first(sizeof message), more, 0, n_pes));
  EXPECT_FALSE(decode_message(block, {}, 1, n_pes)) << "from this PE itself";
  EXPECT_FALSE(decode_message(block, {}, 0, 1)) << "from a PE number outside the job";
  const std::vector<std::uint8_t> too_much(longest_piece_bytes + 1);
  EXPECT_FALSE(decode_message(secret::Bytes(block).first(sizeof message), too_much, 0, n_pes));
  for (const std::int32_t from : {-1, n_pes, INT32_MAX, INT32_MIN}) {
    RemoteMessage other = message;
    other.from = from;
    EXPECT_FALSE(decode_message(block_of(other, 8), {}, 0, n_pes));
  }
}

TEST(DecodedMessage, HasFieldsWithinTheLimitsOfItsKind) {
  using Kind = RemoteMessageKind;
  const struct {
    Kind kind;
    std::size_t data_bytes;
    void (*spoil)(RemoteMessage& message);
  } cases[] = {
      {Kind::put, 8, [](RemoteMessage& m) { m.size_bytes = 9; }},
      {Kind::put, 8, [](RemoteMessage& m) { m.number = 0; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.size_bytes = longest_piece_bytes + 1; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.size_bytes = 0; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.request = 0; }},
      {Kind::update, 0, [](RemoteMessage& m) { m.word_bytes = 2; }},
      {Kind::update, 0, [](RemoteMessage& m) { m.word_bytes = 255; }},
      {Kind::say, 8, [](RemoteMessage& m) { m.size_bytes = std::uint64_t{1} << 63; }},
      {Kind::say, 8, [](RemoteMessage& m) { m.compare = 1; }},
      {Kind::say, 8, [](RemoteMessage& m) { m.compare = UINT64_MAX; }},
      {Kind::key_request, 0, [](RemoteMessage& m) { m.request = 0; }},
      {Kind::data, 8, [](RemoteMessage& m) { m.size_bytes = UINT64_MAX; }},
      {Kind::data, 8, [](RemoteMessage& m) { m.other = -5; }},
      {Kind::value, 0, [](RemoteMessage& m) { m.other = 4096; }},
      {Kind::acknowledge, 0, [](RemoteMessage& m) { m.other = -1; }},
      {Kind::key, 8, [](RemoteMessage& m) { m.size_bytes = 0; }},
      {Kind::key, 8, [](RemoteMessage& m) { m.offset = UINT64_MAX; }},
      {Kind::key, 8, [](RemoteMessage& m) { m.operand = UINT64_MAX - 7; }},
      {Kind::death, 0, [](RemoteMessage& m) { m.other = n_pes; }},
      {Kind::death, 0, [](RemoteMessage& m) { m.other = -1; }},
      {Kind::put, 8, [](RemoteMessage& m) { m.kind = static_cast<Kind>(0); }},
      {Kind::put, 8, [](RemoteMessage& m) { m.kind = static_cast<Kind>(255); }},
  };
  for (const auto& one : cases) {
    RemoteMessage message = message_of(one.kind);
    EXPECT_TRUE(is_sound(message, one.data_bytes)) << static_cast<int>(one.kind);
    one.spoil(message);
    EXPECT_FALSE(is_sound(message, one.data_bytes)) << static_cast<int>(one.kind) << " " << &one - cases;
  }
}

TEST(MessageKeys, DifferByJobSenderAndReceiver) {
  const secret::Key job{1};
  const MessageKeys keys(&job, bootstrap::Token{1});
  EXPECT_EQ(keys.of(0, 1), MessageKeys(&job, bootstrap::Token{1}).of(0, 1));
  EXPECT_NE(keys.of(0, 1), keys.of(1, 0));
  EXPECT_NE(keys.of(0, 1), keys.of(0, 2));
  EXPECT_NE(keys.of(0, 1), MessageKeys(&job, bootstrap::Token{2}).of(0, 1));
  EXPECT_NE(keys.of(0, 1), MessageKeys(nullptr, bootstrap::Token{1}).of(0, 1));
}

TEST(MessageKeys, MakeTagsThatCoverEachBit) {
  const secret::SipKey key = MessageKeys(nullptr, bootstrap::Token{3}).of(1, 0);
  const auto block = block_of(message_of(RemoteMessageKind::put), 8);
  const auto tag = [&](const std::vector<std::uint8_t>& bytes) {
    RemoteMessage message;
    std::memcpy(&message, bytes.data(), sizeof message);
    return tag_of(key, message, secret::Bytes(bytes).subspan(sizeof message));
  };
  for (std::size_t at = 0; at < block.size(); ++at) {
    if (at >= offsetof(RemoteMessage, tag) && at < sizeof(RemoteMessage)) continue;
    auto changed = block;
    changed[at] ^= 0x10;
    EXPECT_NE(tag(changed), tag(block)) << at;
  }
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
