// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copies of tiles (gdrkit/compat/nvshmem_tile.cuh) by host threads, as in GPU kernels on the emulated device. The test
// computes the expected value of every element of the target memory, gaps included.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <climits>

#include "shmem/device/tiles.hpp"

namespace gdrkit::shmem::tiles {
namespace {

using detail::Reducer;

constexpr int invalid = NVSHMEMX_ERROR_INVALID_VALUE;
using tests::succeeded;

/// Counts words by their size, and checks that they are aligned: a GPU requires it.
struct WordCounts {
  static constexpr unsigned enough_threads = 512;
  const char* from;
  std::size_t element_bytes;
  std::array<int, 17>* counts;

  template <class Word, unsigned n>
  void operator()(const Word (&)[n], const std::int64_t (&at)[n]) const {
    for (unsigned i = 0; i < n; ++i) {
      const char* const address = from + at[i] * static_cast<std::int64_t>(element_bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % sizeof(Word), 0U) << sizeof(Word);
      ++(*counts)[sizeof(Word)];
    }
  }
};
template <class T>
std::array<int, 17> words_of(const Shape& shape) {
  alignas(16) static T target[room], source[room];
  std::array<int, 17> counts{}, stores{};
  const auto to = shape.target(target), from = shape.source(source);
  const detail::Region region = detail::region_of(to, from, shape.start, shape.boundary);
  const auto both = reinterpret_cast<std::uintptr_t>(to.data) | reinterpret_cast<std::uintptr_t>(from.data);
  detail::transform<4, sizeof(T)>(region, both, {0, 1},
                                  WordCounts{reinterpret_cast<const char*>(from.data), sizeof(T), &counts},
                                  WordCounts{reinterpret_cast<const char*>(to.data), sizeof(T), &stores});
  EXPECT_EQ(counts, stores);
  return counts;
}

TEST(NvshmemTile, AccessesTheWidestAlignedWords) {
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.name);
    (void)words_of<std::uint8_t>(shape);
    (void)words_of<Half>(shape);
    (void)words_of<float>(shape);
    (void)words_of<double>(shape);
  }
  EXPECT_EQ(words_of<float>(shapes[0])[16], 8 * 16 / 4);
  EXPECT_EQ(words_of<float>(shapes[1])[16], 5 * 9);
  EXPECT_EQ(words_of<float>(shapes[1])[4], 5);
  EXPECT_EQ(words_of<Half>(shapes[4])[16], 7 * 9 / 8);  // one row, because there are no gaps
  EXPECT_EQ(words_of<Half>(shapes[8])[4], 6 * 12);
}

template <class T>
void expect_copies(Pe& pe, std::span<const Shape> cases = shapes) {
  const State state = pe.gpu_code().state();
  const int n = pe.n_pes(), next = (pe.pe() + 1) % n, before = (pe.pe() + n - 1) % n;
  const Memory<T> memory(pe);
  for (const Shape& shape : cases) {
    for (const bool is_put : {true, false}) {
      memory.fill(pe.pe());
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      const int status = in_group([&](Threads group) {
        const auto target = shape.target(memory.target), source = shape.source(memory.source);
        return is_put ? detail::copy_tile<true>(state, target, source, shape.start, shape.boundary, next, 0, group)
                      : detail::copy_tile<false>(state, target, source, shape.start, shape.boundary, next, 0, group);
      });
      EXPECT_EQ(status, NVSHMEMX_SUCCESS);
      quiet(state);
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      std::vector<T> expected(room, number<T>(99));
      shape.for_each([&](int to, int from) {
        expected[static_cast<std::size_t>(to)] = number<T>(value_of(is_put ? before : next, from));
      });
      expect_equal(memory.target, expected, std::string(is_put ? "put, " : "get, ") + shape.name);
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
  }
}

class NvshmemTile : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Pes, NvshmemTile, testing::Values(2, 3, 4));

TEST_P(NvshmemTile, CopiesExactlyTheElementsInside) {
  run_shmem_job({.n_pes = GetParam()}, [](Pe& pe) {
    expect_copies<std::uint8_t>(pe);
    expect_copies<Half>(pe);
    expect_copies<float>(pe);
    expect_copies<double>(pe);
  });
}

TEST(NvshmemTile, CopiesBetweenNodes) {
  run_on_two_nodes([](Pe& pe, std::span<const Shape> cases) {
    expect_copies<Half>(pe, cases);
    expect_copies<double>(pe, cases);
  });
}

TEST(NvshmemTile, SupportsOneDimensionAndConstantSizes) {
  run_shmem_job({}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const int other = 1 - pe.pe();
    const Memory<int> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const auto line = [](int* data, int stride) { return tile(data, std::tuple(20), std::tuple(stride)); };
    // The tuple has a bound for dimension 0 only.
    EXPECT_EQ(detail::copy_tile<true>(state, line(memory.target, 2), line(memory.source, 3), std::tuple(5),
                                      std::tuple(17), other, 0, thread()),
              NVSHMEMX_SUCCESS);
    const auto block = [](int* data, int offset) {
      return tile(data + offset, std::tuple(Int<3>(), 4), std::tuple(16, Int<1>()));
    };
    EXPECT_EQ(detail::copy_tile<true>(state, block(memory.target, 1024), block(memory.source, 0), std::tuple(1),
                                      std::tuple(3), other, 0, thread()),
              NVSHMEMX_SUCCESS);
    EXPECT_EQ(detail::copy_tile<true>(state, block(memory.target, 2048), block(memory.source, 0), Whole(), Whole(),
                                      other, 0, thread()),
              NVSHMEMX_SUCCESS);
    quiet(state);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::vector<int> expected(room, 99);
    for (std::size_t i = 0; i < 12; ++i) expected[2 * i] = value_of(other, static_cast<int>(3 * i));
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t at = i / 4 * 16 + i % 4;
      if (i / 4 < 2) expected[1024 + at] = value_of(other, static_cast<int>(at));
      expected[2048 + at] = value_of(other, static_cast<int>(at));
    }
    expect_equal(memory.target, expected, "");
  });
}

TEST(NvshmemTile, RegionsDoNotOverflow) {
  float element = 0;
  const auto region_of = [&](Pair sizes, Pair start, Pair boundary) {
    const auto all = tile(&element, sizes, Pair(std::get<1>(sizes), 1));
    return detail::region_of(all, all, start, boundary);
  };
  const detail::Region merged = region_of({65535, 65537}, {0, 0}, {INT_MAX, INT_MAX});
  EXPECT_EQ(merged.rows, 1U);
  EXPECT_EQ(merged.columns, UINT_MAX);
  const detail::Region large = region_of({65536, 65537}, {0, 0}, {INT_MAX, INT_MAX});  // 2^32 + 2^16 elements
  EXPECT_EQ(large.rows, 65536U);
  EXPECT_EQ(large.columns, 65537U);
  const detail::Region before = region_of({4, 8}, {-1, -2}, {INT_MAX, INT_MAX});
  EXPECT_EQ(before.rows * before.columns, 4U * 8U);
  const detail::Region beyond = region_of({4, 8}, {INT_MAX, 0}, {-2, 8});
  EXPECT_EQ(beyond.rows * beyond.columns, 0U);
}

TEST(NvshmemTile, AcceptsColumnsOfOneAndTwoDimensions) {
  run_shmem_job({}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const Memory<int> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const auto line = tile(memory.target, std::tuple(20), std::tuple(2));
    const auto column = tile(memory.target, Pair(20, 1), Pair(2, 1));
    EXPECT_EQ(detail::copy_tile<true>(state, line, tile(memory.source, Pair(20, 1), Pair(3, 1)), Whole(), Whole(),
                                      1 - pe.pe(), 0, thread()),
              NVSHMEMX_SUCCESS);
    quiet(state);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    std::vector<int> expected(room, 99);
    for (std::size_t i = 0; i < 20; ++i) expected[2 * i] = value_of(1 - pe.pe(), static_cast<int>(3 * i));
    expect_equal(memory.target, expected, "one dimension");
    // In place, only the strides of dimensions with several elements must be equal.
    EXPECT_EQ(detail::reduce_tile<GDRKIT_SHMEM_MAX>(state, GDRKIT_SHMEM_TEAM_WORLD, line, column, Whole(), Whole(),
                                                    Reducer::every_pe, -1, 0, thread()),
              NVSHMEMX_SUCCESS);
    for (std::size_t i = 0; i < 20; ++i) {
      expected[2 * i] = std::max(value_of(0, static_cast<int>(3 * i)), value_of(1, static_cast<int>(3 * i)));
    }
    expect_equal(memory.target, expected, "in place");
  });
}

TEST(NvshmemTile, RejectsInvalidArgumentsBeforeItCommunicates) {
  run_shmem_job({}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const Memory<float> memory(pe);
    memory.fill(pe.pe());
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    const auto good = tile(memory.target, Pair(4, 8), Pair(8, 1));
    const auto null = tile(static_cast<float*>(nullptr), Pair(4, 8), Pair(8, 1));
    const auto larger = tile(memory.target, Pair(4, 9), Pair(16, 1));
    const auto swapped = tile(memory.target, Pair(8, 4), Pair(4, 1));  // the same number of elements
    const auto line = tile(memory.target, std::tuple(32), std::tuple(1));
    const auto uneven = tile(memory.target, Pair(5, 12), Pair(12, 1));
    const auto source_of_uneven = tile(memory.source, Pair(6, 5), Pair(5, 1));
    const auto source = tile(memory.source, Pair(4, 8), Pair(8, 1));
    const auto put = [&](const auto& to, const auto& from, std::uint64_t flag) {
      return detail::copy_tile<true>(state, to, from, Whole(), Whole(), 1 - pe.pe(), flag, thread());
    };
    EXPECT_EQ(put(null, source, 0), invalid);
    EXPECT_EQ(put(good, null, 0), invalid);
    EXPECT_EQ(put(larger, source, 0), invalid);
    EXPECT_EQ(put(swapped, source, 0), invalid);
    EXPECT_EQ(put(tile(memory.target, Pair(1, 32), Pair(32, 1)), tile(memory.source, Pair(32, 1), Pair(1, 32)), 0),
              invalid);
    EXPECT_EQ(put(line, tile(memory.source, Pair(1, 32), Pair(32, 1)), 0), invalid);
    EXPECT_EQ(put(tile(memory.target, Pair(0, 8), Pair(8, 1)), tile(memory.source, Pair(8, 0), Pair(1, 8)), 0),
              invalid);
    EXPECT_EQ(put(good, source, 1), invalid);
    State impatient = state;
    impatient.limit_ns = 100'000'000;
    const auto reduce_by = [&](Reducer reducer, const auto& to, const auto& from, int root, std::uint64_t flag) {
      return detail::reduce_tile<GDRKIT_SHMEM_SUM>(impatient, GDRKIT_SHMEM_TEAM_WORLD, to, from, Whole(), Whole(),
                                                   reducer, root, flag, thread());
    };
    const auto reduce = [&](const auto& to, int root, std::uint64_t flag) {
      return reduce_by(Reducer::root_for_all, to, source, root, flag);
    };
    // Only one PE calls: a reduction that communicated would wait for the other.
    if (pe.pe() == 0) {
      EXPECT_EQ(reduce(good, -1, 0), invalid);
      EXPECT_EQ(reduce(good, 2, 0), invalid);
      EXPECT_EQ(reduce(null, 0, 0), invalid);
      EXPECT_EQ(reduce(good, 0, 1), invalid);
      EXPECT_EQ(reduce(swapped, 0, 0), invalid);
      const auto square = tile(memory.target, Pair(8, 8), Pair(8, 1));
      const auto transposed = tile(memory.target, Pair(8, 8), Pair(1, 8));
      for (const Reducer reducer : {Reducer::every_pe, Reducer::root_for_itself, Reducer::root_for_all}) {
        EXPECT_EQ(reduce_by(reducer, square, transposed, 0, 0), invalid);
      }
      EXPECT_EQ(detail::wait_for_tiles(state, GDRKIT_SHMEM_TEAM_WORLD, true, 1, thread()), invalid);
    }
    const auto gather = [&](const auto& to, const auto& from) {
      return detail::allgather_tile(state, GDRKIT_SHMEM_TEAM_WORLD, to, from, Whole(), Whole(), 0, thread());
    };
    const auto source_of_pairs = tile(memory.source, Pair(1, 2), Pair(2, 1));
    const auto empty = tile(memory.source, Pair(0, 8), Pair(8, 1));
    EXPECT_EQ(gather(good, source), invalid);              // room for one part only
    EXPECT_EQ(gather(uneven, source_of_uneven), invalid);  // rows of 2.4 parts
    const auto source_of_columns = tile(memory.source, Pair(2, 6), Pair(6, 1));
    EXPECT_EQ(gather(tile(memory.target, Pair(1, 24), Pair(24, 1)), source_of_columns),
              invalid);  // columns of 0.5 parts
    // 2^32 + 4 elements, where two parts have 4.
    EXPECT_EQ(gather(tile(memory.target, Pair((1 << 30) + 1, 4), Pair(4, 1)), source_of_pairs), invalid);
    EXPECT_EQ(gather(good, empty), invalid);
    EXPECT_EQ(gather(tile(memory.target, Pair(0, 16), Pair(16, 1)), empty), NVSHMEMX_SUCCESS);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    expect_equal(memory.target, std::vector<float>(room, 99), "untouched");
  });
}

}  // namespace
}  // namespace gdrkit::shmem::tiles
