// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/handle.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/records.hpp"

namespace gdrkit::core {
namespace {

class HandleTest : public testing::Test {
 protected:
  void SetUp() override { draw_handle_key(); }
};

TEST_F(HandleTest, ReturnsItsIndex) {
  for (const std::uint32_t index : {0u, 1u, 255u, 256u, 4095u, (1u << index_bits) - 2}) {
    EXPECT_EQ(index_of(make_handle(HandleKind::pin, 7, index)), index);
    EXPECT_EQ(index_of(make_handle(HandleKind::context, last_generation, index)), index);
  }
}

TEST_F(HandleTest, DiffersInEveryPartItIsMadeOf) {
  std::set<Handle> handles;
  for (const HandleKind kind : {HandleKind::context, HandleKind::pin, HandleKind::buffer}) {
    for (const std::uint64_t generation : {std::uint64_t{0}, std::uint64_t{1}, last_generation}) {
      for (const std::uint32_t index : {0u, 1u, 2u}) handles.insert(make_handle(kind, generation, index));
    }
  }
  EXPECT_EQ(handles.size(), 27u);
}

TEST_F(HandleTest, IsNeverZeroNorACanonicalPointer) {
  for (std::uint64_t generation = 0; generation < 1000; ++generation) {
    EXPECT_NE(make_handle(HandleKind::pin, generation, 0) >> 63, 0u);
    EXPECT_NE(make_handle(HandleKind::context, generation * 7919, 3) >> 63, 0u);
    EXPECT_NE(make_handle(HandleKind::buffer, generation, 5) >> 63, 0u);
  }
}

TEST_F(HandleTest, ZeroDecodesToAnIndexThatNoTableAllocates) {
  EXPECT_GE(index_of(0), decltype(pin_table)::capacity);
  EXPECT_EQ(pin_table.find(index_of(0)), nullptr);
  EXPECT_EQ(context_table.find(index_of(0)), nullptr);
  EXPECT_EQ(buffer_table.find(index_of(0)), nullptr);
}

TEST_F(HandleTest, KeepsTheKeyThatWasDrawnFirst) {
  const std::uint64_t key = handle_key.load();
  EXPECT_NE(key, 0u);
  draw_handle_key();
  EXPECT_EQ(handle_key.load(), key);
}

}  // namespace
}  // namespace gdrkit::core
