// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Collectives of tiles (gdrkit/compat/nvshmem_tile.cuh) by host threads, as in GPU kernels on the emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "shmem/device/tiles.hpp"

namespace gdrkit::shmem::tiles {
namespace {

using detail::Reducer;
using tests::succeeded;

int reduced(gdrkit_shmem_reduction reduction, int n, int i) {
  int result = value_of(0, i);
  for (int pe = 1; pe < n; ++pe) {
    const int value = value_of(pe, i);
    result = reduction == GDRKIT_SHMEM_SUM   ? result + value
             : reduction == GDRKIT_SHMEM_MIN ? std::min(result, value)
                                             : std::max(result, value);
  }
  return result;
}
/// `root`: -1 with Reducer::every_pe. In place, the source's layout is the target's.
template <gdrkit_shmem_reduction reduction, class T>
void expect_reduction(Pe& pe, const Memory<T>& memory, const Shape& shape_of_case, Reducer reducer, int root,
                      bool is_in_place) {
  Shape shape = shape_of_case;
  const State state = pe.gpu_code().state();
  if (is_in_place) {
    std::copy_n(shape.from, 2, shape.to);
    shape.to_offset = shape.from_offset;
  }
  T* const target_data = is_in_place ? memory.source : memory.target;
  // The reduction waits for the sources of all PEs.
  if (&shape_of_case == shapes && pe.pe() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  memory.fill(pe.pe());
  const int status = in_group([&](Threads group) {
    const auto target = shape.target(target_data), source = shape.source(memory.source);
    const int reduced_status = detail::reduce_tile<reduction>(state, GDRKIT_SHMEM_TEAM_WORLD, target, source,
                                                              shape.start, shape.boundary, reducer, root, 0, group);
    if (reduced_status != NVSHMEMX_SUCCESS) return reduced_status;
    return detail::wait_for_tiles(state, GDRKIT_SHMEM_TEAM_WORLD, reducer == Reducer::root_for_all, 0, group);
  });
  EXPECT_EQ(status, NVSHMEMX_SUCCESS);
  std::vector<T> expected(room);
  for (int i = 0; i < room; ++i) {
    expected[static_cast<std::size_t>(i)] = number<T>(is_in_place ? value_of(pe.pe(), i) : 99);
  }
  if (reducer != Reducer::root_for_itself || root == pe.pe()) {
    shape.for_each([&](int to, int from) {
      expected[static_cast<std::size_t>(to)] = number<T>(reduced(reduction, pe.n_pes(), from));
    });
  }
  expect_equal(target_data, expected,
               std::string(shape.name) + (is_in_place ? ", in place" : "") + ", root " + std::to_string(root) +
                   ", reducer " + std::to_string(static_cast<int>(reducer)) + ", reduction " +
                   std::to_string(reduction));
  ASSERT_TRUE(succeeded(pe.barrier_all()));
}
template <gdrkit_shmem_reduction reduction, class T>
void expect_reductions(Pe& pe, std::span<const Shape> cases = shapes) {
  const Memory<T> memory(pe);
  for (const Shape& shape : cases) {
    for (const bool is_in_place : {false, true}) {
      expect_reduction<reduction>(pe, memory, shape, Reducer::every_pe, -1, is_in_place);
      const int root = shape.sizes[0] % pe.n_pes();
      expect_reduction<reduction>(pe, memory, shape, Reducer::root_for_itself, root, is_in_place);
      expect_reduction<reduction>(pe, memory, shape, Reducer::root_for_all, root, is_in_place);
    }
  }
}

class NvshmemTileCollectives : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Pes, NvshmemTileCollectives, testing::Values(2, 3, 4));

TEST_P(NvshmemTileCollectives, SumsAreExactForAllRootsAndInPlace) {
  run_shmem_job({.n_pes = GetParam()}, [](Pe& pe) {
    expect_reductions<GDRKIT_SHMEM_SUM, float>(pe);
    expect_reductions<GDRKIT_SHMEM_SUM, Half>(pe);
    expect_reductions<GDRKIT_SHMEM_SUM, Bfloat16>(pe);
    expect_reductions<GDRKIT_SHMEM_SUM, std::uint8_t>(pe);
    const Memory<double> memory(pe);
    for (int root = 0; root < pe.n_pes(); ++root) {
      expect_reduction<GDRKIT_SHMEM_SUM>(pe, memory, shapes[1], Reducer::root_for_itself, root, false);
      expect_reduction<GDRKIT_SHMEM_SUM>(pe, memory, shapes[1], Reducer::root_for_all, root, true);
    }
  });
}
TEST_P(NvshmemTileCollectives, MinimaAndMaximaAreExact) {
  run_shmem_job({.n_pes = GetParam()}, [](Pe& pe) {
    expect_reductions<GDRKIT_SHMEM_MIN, int>(pe);
    expect_reductions<GDRKIT_SHMEM_MAX, Half>(pe);
    expect_reductions<GDRKIT_SHMEM_MAX, float>(pe);
  });
}

TEST_P(NvshmemTileCollectives, BroadcastCopiesTheRootsTileToAllPes) {
  run_shmem_job({.n_pes = GetParam()}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const Memory<Half> memory(pe);
    for (const Shape& shape : shapes) {
      const int root = shape.sizes[1] % pe.n_pes();
      memory.fill(pe.pe());
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      EXPECT_EQ(in_group([&](Threads group) {
                  if (pe.pe() == root) {
                    EXPECT_EQ(
                        detail::broadcast_tile(state, GDRKIT_SHMEM_TEAM_WORLD, shape.target(memory.target),
                                               shape.source(memory.source), shape.start, shape.boundary, 0, group),
                        NVSHMEMX_SUCCESS);
                  }
                  return detail::wait_for_tiles(state, GDRKIT_SHMEM_TEAM_WORLD, true, 0, group);
                }),
                NVSHMEMX_SUCCESS);
      std::vector<Half> expected(room, number<Half>(99));
      shape.for_each(
          [&](int to, int from) { expected[static_cast<std::size_t>(to)] = number<Half>(value_of(root, from)); });
      expect_equal(memory.target, expected, shape.name);
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
  });
}

/// Gathers tiles of 6 x 10 by a team. Part p begins at element (6 * (p / across), 10 * (p % across)) of the target if
/// it is row major. If it is column major, rows and columns are exchanged.
template <class Stride>
void expect_allgather(Pe& pe, Team team, int first_pe, int pe_stride, bool is_row_major, int across, Stride to_stride,
                      Stride from_stride) {
  const State state = pe.gpu_code().state();
  const Memory<float> memory(pe);
  memory.fill(pe.pe());
  ASSERT_TRUE(succeeded(pe.barrier_all()));
  if (team != GDRKIT_SHMEM_TEAM_INVALID) {
    const int n = team_n_pes(state, team), along = n / across;
    const Pair sizes(6, 10), start(2, 1), boundary(7, 10);  // 5 x 9 elements are inside
    const Pair all = is_row_major ? Pair(6 * along, 10 * across) : Pair(6 * across, 10 * along);
    EXPECT_EQ(in_group([&](Threads group) {
                const int status =
                    detail::allgather_tile(state, team, tile(memory.target, all, to_stride),
                                           tile(memory.source, sizes, from_stride), start, boundary, 0, group);
                return status != 0 ? status : detail::wait_for_tiles(state, team, true, 0, group);
              }),
              NVSHMEMX_SUCCESS);
    std::vector<float> expected(room, 99);
    for (int part = 0; part < n; ++part) {
      const int fast = part % across, slow = part / across;
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 9; ++j) {
          const int row = 6 * (is_row_major ? slow : fast) + i, column = 10 * (is_row_major ? fast : slow) + j;
          const int to = row * static_cast<int>(std::get<0>(to_stride)) + column * std::get<1>(to_stride);
          const int from = i * static_cast<int>(std::get<0>(from_stride)) + j * std::get<1>(from_stride);
          expected[static_cast<std::size_t>(to)] = static_cast<float>(value_of(first_pe + part * pe_stride, from));
        }
      }
    }
    expect_equal(memory.target, expected, is_row_major ? "row major" : "column major");
  }
  ASSERT_TRUE(succeeded(pe.barrier_all()));
}

TEST_P(NvshmemTileCollectives, AllgatherArrangesThePartsInTheTarget) {
  run_shmem_job({.n_pes = GetParam()}, [](Pe& pe) {
    for (int across = 1; across <= pe.n_pes(); ++across) {
      if (pe.n_pes() % across != 0) continue;
      expect_allgather(pe, GDRKIT_SHMEM_TEAM_WORLD, 0, 1, true, across, Pair(44, 1), Pair(12, 1));
      expect_allgather(pe, GDRKIT_SHMEM_TEAM_WORLD, 0, 1, false, across, Pair(1, 29), Pair(1, 8));
      using Stride = std::tuple<Int<1>, int>;
      expect_allgather(pe, GDRKIT_SHMEM_TEAM_WORLD, 0, 1, false, across, Stride(Int<1>(), 29), Stride(Int<1>(), 8));
    }
  });
}

TEST(NvshmemTileCollectives, AllgatherRejectsTargetsWithoutWholeParts) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const Memory<float> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    // 3 rows do not consist of parts with 2 rows, although the numbers of elements match.
    EXPECT_EQ(detail::allgather_tile(state, GDRKIT_SHMEM_TEAM_WORLD, tile(memory.target, Pair(3, 10), Pair(10, 1)),
                                     tile(memory.source, Pair(2, 5), Pair(5, 1)), Whole(), Whole(), 0, thread()),
              NVSHMEMX_ERROR_INVALID_VALUE);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    expect_equal(memory.target, std::vector<float>(room, 99), "untouched");
  });
}

TEST(NvshmemTileCollectives, UseNumbersInStridedTeams) {
  run_shmem_job({.n_pes = 4}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    auto made = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 3, -2, 2);  // PEs 3 and 1
    ASSERT_TRUE(made) << made.error().text();
    expect_allgather(pe, *made, 3, -2, true, 2, Pair(44, 1), Pair(12, 1));
    const Memory<int> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    if (pe.pe() % 2 == 1) {
      EXPECT_EQ(in_group([&](Threads group) {
                  const Shape& shape = shapes[0];
                  return detail::reduce_tile<GDRKIT_SHMEM_SUM>(state, *made, shape.target(memory.target),
                                                               shape.source(memory.source), Whole(), Whole(),
                                                               Reducer::root_for_itself, 0, 0, group);
                }),
                NVSHMEMX_SUCCESS);
    }
    EXPECT_EQ(memory.target[3 * 64 + 5], pe.pe() == 3 ? value_of(1, 3 * 32 + 5) + value_of(3, 3 * 32 + 5) : 99);
  });
}

TEST(NvshmemTileCollectives, ReduceAndGatherBetweenNodes) {
  run_on_two_nodes([](Pe& pe, std::span<const Shape> cases) {
    expect_reductions<GDRKIT_SHMEM_SUM, float>(pe, cases);
    expect_reductions<GDRKIT_SHMEM_MAX, Half>(pe, cases);
    expect_allgather(pe, GDRKIT_SHMEM_TEAM_WORLD, 0, 1, true, 2, Pair(44, 1), Pair(12, 1));
  });
}

TEST(NvshmemTileCollectives, OneShotReductionsWriteToPrivateMemory) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const Memory<float> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    alignas(16) float own[8 * 16];
    const auto target = tile(own, Pair(8, 16), Pair(16, 1));
    EXPECT_EQ(
        detail::reduce_tile<GDRKIT_SHMEM_SUM>(state, GDRKIT_SHMEM_TEAM_WORLD, target, shapes[0].source(memory.source),
                                              Whole(), Whole(), Reducer::every_pe, -1, 0, thread()),
        NVSHMEMX_SUCCESS);
    for (int i = 0; i < 8 * 16; ++i) {
      EXPECT_EQ(own[i], static_cast<float>(reduced(GDRKIT_SHMEM_SUM, 3, i / 16 * 32 + i % 16)));
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem::tiles
