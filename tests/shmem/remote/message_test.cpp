// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Format of a message, the checks before its fields are used, and the limits of the fields.
#include "shmem/remote/message.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <tuple>
#include <vector>

#include "shmem/remote/message_keys.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

constexpr int n_pes = 4;

std::vector<std::uint8_t> block_of(const RemoteMessage& message, std::size_t data_bytes) {
  std::vector<std::uint8_t> block(longest_header_bytes);
  block.resize(write_header(message, block.data()));
  block.resize(block.size() + data_bytes, 7);
  return block;
}

RemoteMessage message_of(RemoteMessageKind kind) {
  RemoteMessage message;
  message.kind = kind;
  message.from = 1;
  message.number = 1;
  message.request = 1;
  if (kind != RemoteMessageKind::put) message.size_bytes = 8;
  message.word_bytes = 8;
  return message;
}

bool is_sound(const RemoteMessage& message, std::size_t data_bytes) {
  const auto block = block_of(message, data_bytes);
  const auto decoded = decode_message(block, {}, 0, n_pes);
  return decoded && has_sound_fields(*decoded, n_pes);
}

TEST(MessageBytes, PreserveAllFields) {
  RemoteMessage message;
  message.kind = RemoteMessageKind::allgather;
  message.operation = 2;
  message.word_bytes = 3;
  message.from = 1;
  std::uint64_t* const fields[] = {&message.number,     &message.request, &message.offset,
                                   &message.size_bytes, &message.operand, &message.compare};
  for (unsigned present = 0; present < 128; ++present) {
    message.other = (present & 64) != 0 ? -4 : 0;
    for (unsigned i = 0; i < 6; ++i) *fields[i] = (present >> i & 1) != 0 ? UINT64_MAX - i : 0;
    const auto block = block_of(message, 5);
    EXPECT_EQ(block.size(), 16 + 8 * static_cast<std::size_t>(std::popcount(present)) + 5);
    const auto decoded = decode_message(block, {}, 0, n_pes);
    ASSERT_TRUE(decoded);
    const RemoteMessage& same = decoded->message;
    EXPECT_EQ(std::tie(same.kind, same.operation, same.word_bytes, same.from, same.other),
              std::tie(message.kind, message.operation, message.word_bytes, message.from, message.other));
    EXPECT_EQ(std::tie(same.number, same.request, same.offset, same.size_bytes, same.operand, same.compare),
              std::tie(message.number, message.request, message.offset, message.size_bytes, message.operand,
                       message.compare));
    EXPECT_EQ(std::vector(decoded->data.begin(), decoded->data.end()), std::vector<std::uint8_t>(5, 7));
  }
}

/// A put of 8 bytes with its acknowledgement fits into the shortest way of UCX's shared memory.
TEST(MessageBytes, StayWithinTheSizeLimit) {
  RemoteMessage put;
  put.kind = RemoteMessageKind::put;
  put.from = 1;
  put.operation = put_and_flush;
  put.number = put.offset = 8;
  EXPECT_EQ(block_of(put, 8).size(), 40u);
  RemoteMessage done;
  done.kind = RemoteMessageKind::acknowledge;
  done.operand = 8;
  EXPECT_EQ(block_of(done, 0).size(), 24u);
}

TEST(MessageBytes, RejectInvalidLayouts) {
  const RemoteMessage message = message_of(RemoteMessageKind::put);
  const auto block = block_of(message, 8);
  const std::uint8_t more[8] = {};
  EXPECT_TRUE(decode_message(block, {}, 0, n_pes));
  EXPECT_FALSE(decode_message({}, {}, 0, n_pes));
  const std::size_t header_bytes = block.size() - 8;
  for (std::size_t size = 0; size < header_bytes; ++size) {
    EXPECT_FALSE(decode_message(secret::Bytes(block).first(size), {}, 0, n_pes)) << size;
  }
  for (const unsigned fields : {0x80u, 0xffu}) {
    auto unknown = block_of(message, 64);
    unknown[11] = static_cast<std::uint8_t>(fields);
    EXPECT_FALSE(decode_message(unknown, {}, 0, n_pes)) << "fields that do not exist";
  }
  EXPECT_FALSE(decode_message(block, more, 0, n_pes)) << "data in both places";
  EXPECT_TRUE(decode_message(secret::Bytes(block).first(header_bytes), more, 0, n_pes));
  EXPECT_FALSE(decode_message(block, {}, 1, n_pes)) << "from this PE itself";
  EXPECT_FALSE(decode_message(block, {}, 0, 1)) << "from a PE number outside the job";
  const std::vector<std::uint8_t> too_much(longest_piece_bytes + 1);
  EXPECT_FALSE(decode_message(secret::Bytes(block).first(header_bytes), too_much, 0, n_pes));
  for (const std::int32_t from : {-1, n_pes, INT32_MAX, INT32_MIN}) {
    RemoteMessage other = message;
    other.from = from;
    EXPECT_FALSE(decode_message(block_of(other, 8), {}, 0, n_pes));
  }
}

TEST(MessageBytes, RejectFieldsOutsideTheLimitsOfTheKind) {
  using Kind = RemoteMessageKind;
  const struct {
    Kind kind;
    std::size_t data_bytes;
    void (*spoil)(RemoteMessage& message);
  } cases[] = {
      {Kind::put, 8, [](RemoteMessage& m) { m.size_bytes = 8; }},
      {Kind::put, 8, [](RemoteMessage& m) { m.operation = put_and_flush + 1; }},
      {Kind::put, 8, [](RemoteMessage& m) { m.number = 0; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.size_bytes = longest_piece_bytes + 1; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.size_bytes = 0; }},
      {Kind::get, 0, [](RemoteMessage& m) { m.request = 0; }},
      {Kind::update, 0, [](RemoteMessage& m) { m.word_bytes = 2; }},
      {Kind::update, 0, [](RemoteMessage& m) { m.word_bytes = 255; }},
      {Kind::allgather, 8, [](RemoteMessage& m) { m.size_bytes = std::uint64_t{1} << 63; }},
      {Kind::allgather, 8, [](RemoteMessage& m) { m.compare = 1; }},
      {Kind::allgather, 8, [](RemoteMessage& m) { m.compare = UINT64_MAX; }},
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

/// UCX delivers the data of a long put apart from the block that the tag covers.
TEST(MessageBytes, LongPutRequiresItsExactSize) {
  RemoteMessage message = message_of(RemoteMessageKind::put);
  const std::vector<std::uint8_t> data(300);
  for (const std::size_t named : {std::size_t{0}, std::size_t{299}, std::size_t{300}, std::size_t{301}}) {
    message.size_bytes = named;
    const auto block = block_of(message, 0);
    const auto decoded = decode_message(block, data, 0, n_pes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(has_sound_fields(*decoded, n_pes), named == data.size()) << named;
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

TEST(MessageBytes, TagDetectsEveryChangedBit) {
  const secret::SipKey key = MessageKeys(nullptr, bootstrap::Token{3}).of(1, 0);
  auto block = block_of(message_of(RemoteMessageKind::put), 8);
  write_tag(key, block);
  const auto is_right = [&](const std::vector<std::uint8_t>& bytes) {
    return has_right_tag(key, DecodedMessage{{}, {}, bytes});
  };
  EXPECT_TRUE(is_right(block));
  for (std::size_t bit = 0; bit < 8 * block.size(); ++bit) {
    auto changed = block;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(is_right(changed)) << bit;
  }
  block.pop_back();
  EXPECT_FALSE(is_right(block));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
