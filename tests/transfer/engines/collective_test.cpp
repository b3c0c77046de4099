// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/engines/collective.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

namespace gdrkit::transfer::engines {
namespace {

const Collective& named(const std::string& name) {
  for (const Collective& collective : all_collectives()) {
    if (name == collective.name) return collective;
  }
  throw std::logic_error(name);
}

TEST(Collective, BusFactorsMatchNcclTests) {
  const struct {
    const char* name;
    double with_2;
    double with_8;
  } expected[] = {{"all_reduce", 1, 1.75},  {"all_gather", 0.5, 0.875}, {"reduce_scatter", 0.5, 0.875},
                  {"alltoall", 0.5, 0.875}, {"broadcast", 1, 1},        {"reduce", 1, 1},
                  {"sendrecv", 1, 1},       {"gather", 0.5, 0.875},     {"scatter", 0.5, 0.875},
                  {"hypercube", 1, 1}};
  ASSERT_EQ(std::size(expected), all_collectives().size());
  for (const auto& one : expected) {
    EXPECT_DOUBLE_EQ(named(one.name).bus_share(2), one.with_2) << one.name;
    EXPECT_DOUBLE_EQ(named(one.name).bus_share(8), one.with_8) << one.name;
  }
}

TEST(Collective, OnlyHypercubeHasMultipleSteps) {
  EXPECT_EQ(named("all_gather").steps(8), 1);
  EXPECT_EQ(named("hypercube").steps(1), 1);
  EXPECT_EQ(named("hypercube").steps(8), 4);  // the copy, and an exchange along each edge
  EXPECT_TRUE(named("hypercube").runs_with(8));
  EXPECT_FALSE(named("hypercube").runs_with(6));
  EXPECT_TRUE(named("all_gather").runs_with(6));
  EXPECT_DOUBLE_EQ(named("hypercube").algorithm_share(4), 0.75);
  EXPECT_DOUBLE_EQ(named("all_gather").algorithm_share(4), 1);
}

TEST(Collective, PartsOfOneBufferAreMultiplesOf16Bytes) {
  EXPECT_EQ(named("all_reduce").part_count(1000, 4, 4), 250U);
  EXPECT_EQ(named("all_gather").part_count(1000, 4, 4), 60U);  // 62.5, down to a multiple of 4 elements
  EXPECT_EQ(named("alltoall").part_count(1000, 8, 4), 30U);    // 31.25, down to a multiple of 2
  EXPECT_EQ(named("reduce_scatter").part_count(8, 4, 4), 0U);
  EXPECT_EQ(named("all_gather").table_count(60, 4), 240U);
  EXPECT_EQ(named("broadcast").table_count(60, 4), 60U);
}

TEST(Collective, InPlaceOffsetsMatchTheNcclApi) {
  EXPECT_EQ(named("all_gather").input_offset(10, 3), 30U);
  EXPECT_EQ(named("all_gather").output_offset(10, 3), 0U);
  EXPECT_EQ(named("reduce_scatter").input_offset(10, 3), 0U);
  EXPECT_EQ(named("reduce_scatter").output_offset(10, 3), 30U);
  EXPECT_EQ(named("all_reduce").input_offset(10, 3), 0U);
  EXPECT_EQ(named("all_reduce").output_offset(10, 3), 0U);
}

TEST(Collective, PiecesCoverTheOutputExactlyOnce) {
  constexpr int ranks = 3;
  for (const Collective& collective : all_collectives()) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto pieces = collective.pieces(10, rank, ranks, 1);
      const bool is_of_root = collective.kind == CollectiveKind::reduce || collective.kind == CollectiveKind::gather;
      if (is_of_root && rank != 1) {
        EXPECT_TRUE(pieces.empty());  // only the root has a result
        continue;
      }
      std::size_t at = 0;
      for (const Piece& piece : pieces) {
        EXPECT_EQ(piece.offset, at) << collective.name;
        at += piece.count;
      }
      EXPECT_EQ(at, collective.receive_count(10, ranks)) << collective.name;
    }
  }
}

TEST(Collective, PiecesHaveTheSpecifiedSourceAndOffset) {
  const auto exchanged = named("alltoall").pieces(10, 2, 3, 0);
  EXPECT_EQ(exchanged[1].source, 1);
  EXPECT_EQ(exchanged[1].first, 20U);  // rank 2's part of rank 1's input
  EXPECT_EQ(named("reduce_scatter").pieces(10, 2, 3, 0)[0].first, 20U);
  EXPECT_EQ(named("reduce_scatter").pieces(10, 2, 3, 0)[0].source, -1);
  EXPECT_EQ(named("broadcast").pieces(10, 2, 3, 1)[0].source, 1);
  EXPECT_EQ(named("sendrecv").pieces(10, 0, 3, 0)[0].source, 2);
  EXPECT_EQ(named("gather").pieces(10, 1, 3, 1)[2].source, 2);
  EXPECT_EQ(named("gather").pieces(10, 1, 3, 1)[2].first, 0U);
  EXPECT_EQ(named("scatter").pieces(10, 2, 3, 1)[0].source, 1);
  EXPECT_EQ(named("scatter").pieces(10, 2, 3, 1)[0].first, 20U);
  EXPECT_EQ(named("hypercube").pieces(10, 2, 4, 0)[3].source, 3);
}

}  // namespace
}  // namespace gdrkit::transfer::engines
