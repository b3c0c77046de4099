// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/allgather_messages.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gdrkit::shmem_impl::remote {
namespace {

constexpr std::uint64_t place = 7;

/// Adds bytes [at, at + piece.size()) of the `size_bytes` that PE 3 sends in that allgather.
void add(AllgatherMessages& messages, std::uint64_t number, const std::string& piece, std::uint64_t at,
         std::uint64_t size_bytes) {
  RemoteMessage message{};
  message.from = 3;
  message.offset = place;
  message.operand = number;
  message.compare = at;
  message.size_bytes = size_bytes;
  messages.add(message, piece.data(), piece.size());
}

std::string take(AllgatherMessages& messages) {
  const std::vector<char> data = messages.take(place, 3);
  return {data.begin(), data.end()};
}

TEST(AllgatherMessages, AreCompleteAfterTheLastPiece) {
  AllgatherMessages messages;
  EXPECT_FALSE(messages.has(place, 3, 1));
  add(messages, 1, "ab", 0, 5);
  EXPECT_FALSE(messages.has(place, 3, 1));
  add(messages, 1, "cde", 2, 5);
  EXPECT_FALSE(messages.has(place, 2, 1)) << "another PE's";
  EXPECT_FALSE(messages.has(place + 1, 3, 1)) << "of another place";
  ASSERT_TRUE(messages.has(place, 3, 1));
  EXPECT_EQ(take(messages), "abcde");
  EXPECT_FALSE(messages.has(place, 3, 1)) << "was taken";
}

TEST(AllgatherMessages, DiscardMessagesOfEarlierAllgathers) {
  AllgatherMessages messages;
  add(messages, 1, "old", 0, 3);
  add(messages, 2, "new", 0, 3);
  ASSERT_TRUE(messages.has(place, 3, 2));
  EXPECT_EQ(take(messages), "new");
}

TEST(AllgatherMessages, IgnorePiecesOutOfSequence) {
  AllgatherMessages messages;
  add(messages, 1, "ab", 0, 5);
  add(messages, 1, "e", 4, 5);     // a gap before it
  add(messages, 1, "cdef", 2, 5);  // too long
  add(messages, 2, "cde", 2, 5);   // of an allgather that has not begun
  EXPECT_FALSE(messages.has(place, 3, 1));
  add(messages, 1, "cde", 2, 5);
  ASSERT_TRUE(messages.has(place, 3, 1));
  EXPECT_EQ(take(messages), "abcde");
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
