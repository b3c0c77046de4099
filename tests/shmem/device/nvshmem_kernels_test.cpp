// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit/compat/nvshmem_gpu.cuh by host threads, as GPU kernels are played on the emulated device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <gdrkit/compat/nvshmem_gpu.cuh>
#include <vector>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem {
namespace {

using shmem_impl::core::Pe;
using tests::run_shmem_job;
using tests::succeeded;

template <std::size_t bytes>
void expect_strided(Pe& pe) {
  using Element = std::array<char, bytes>;
  const State state = pe.gpu_code().state();
  const int n = pe.n_pes(), next = (pe.pe() + 1) % n, before = (pe.pe() + n - 1) % n;
  auto* const target = tests::zeroed<Element>(pe, 4096 / sizeof(Element));
  auto* const source = tests::zeroed<Element>(pe, 4096 / sizeof(Element));
  for (int i = 0; i < 20; ++i) source[i].fill(static_cast<char>(32 * pe.pe() + i));
  ASSERT_TRUE(succeeded(pe.barrier_all()));
  detail::put_strided<bytes>(state, target, source, 3, 2, 7, next, thread());
  ASSERT_TRUE(succeeded(pe.barrier_all()));
  std::vector<Element> put_elements(64);
  for (std::size_t i = 0; i < put_elements.size(); ++i) {
    put_elements[i].fill(i % 3 == 0 && i < 21 ? static_cast<char>(32 * before + static_cast<int>(i / 3 * 2)) : char{0});
  }
  EXPECT_TRUE(std::equal(put_elements.begin(), put_elements.end(), target)) << bytes << " bytes, PE " << pe.pe();
  std::vector<Element> got(24);
  detail::get_strided<bytes>(state, got.data() + 23, source, -2, 1, 5, next, thread());
  for (std::size_t i = 0; i < got.size(); ++i) {
    Element expected{};
    if (i >= 15 && i % 2 == 1) expected.fill(static_cast<char>(32 * next + static_cast<int>((23 - i) / 2)));
    EXPECT_EQ(got[i], expected) << bytes << " bytes, element " << i;
  }
  ASSERT_TRUE(succeeded(pe.barrier_all()));
}

TEST(NvshmemGpu, StridedCopiesPreserveTheGaps) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    expect_strided<1>(pe);
    expect_strided<2>(pe);
    expect_strided<4>(pe);
    expect_strided<8>(pe);
    expect_strided<16>(pe);
  });
}

TEST(NvshmemGpu, AlltoallsExchangesEveryPart) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    const int n = pe.n_pes();
    auto* const target = tests::zeroed<int>(pe, 4096 / sizeof(int));
    auto* const source = tests::zeroed<int>(pe, 4096 / sizeof(int));
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 4 * n; ++i) source[3 * i] = 10000 * round + 100 * pe.pe() + i;
      ASSERT_TRUE(detail::alltoalls<sizeof(int)>(state, GDRKIT_SHMEM_TEAM_WORLD, target, source, 2, 3, 4, thread()));
      for (int from = 0; from < n; ++from) {
        for (int i = 0; i < 8; ++i) {
          const int expected = i % 2 != 0 ? 0 : 10000 * round + 100 * from + 4 * pe.pe() + i / 2;
          EXPECT_EQ(target[8 * from + i], expected) << "round " << round << ", from PE " << from;
        }
      }
    }
  });
}

TEST(NvshmemGpu, FloatingPointSumsAreExact) {
  run_shmem_job({.n_pes = 4}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    auto* const words = tests::zeroed<float>(pe, 64 / sizeof(float));
    auto* const wide = tests::zeroed<double>(pe, 64 / sizeof(double));
    for (int i = 0; i < 500; ++i) {
      (void)detail::fetch_add_value(state, words + 1, 0.5F, 0);
      (void)detail::fetch_add_value(state, wide + 1, 0.25, 0);
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(detail::get_value(state, words + 1, 0), 0.5F * 500 * 4);
    EXPECT_EQ(detail::get_value(state, wide + 1, 0), 0.25 * 500 * 4);
    EXPECT_EQ(words[0], 0.0F);
    EXPECT_EQ(words[2], 0.0F);
  });
}

/// Two bytes as half's are, on either side of a word of 4.
TEST(NvshmemGpu, TwoByteUpdatesPreserveAdjacentBytes) {
  run_shmem_job({.n_pes = 4}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    auto* const halves = tests::zeroed<std::uint16_t>(pe, 64 / sizeof(std::uint16_t));
    for (int i = 0; i < 500; ++i) {
      (void)detail::change_value(state, halves + pe.pe() % 2, 0,
                                 [](std::uint16_t seen) { return static_cast<std::uint16_t>(seen + 1); });
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    for (const int i : {0, 1}) EXPECT_EQ(detail::get_value(state, halves + i, 0), 1000);
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    if (pe.pe() != 0) return;
    EXPECT_EQ(detail::swap_value(state, halves + 1, std::uint16_t{7}, 0), 1000);
    EXPECT_EQ(halves[0], 1000);
    EXPECT_EQ(halves[1], 7);
  });
}

TEST(NvshmemGpu, ReturnsPointersForSymmetricAddressesOnly) {
  run_shmem_job({}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    char* const own = tests::zeroed<char>(pe, 64);
    const int local = 0;
    EXPECT_EQ(detail::ptr_in_heap(state, own, pe.pe()), own);
    EXPECT_EQ(detail::ptr_in_heap(state, own, 1 - pe.pe()), ptr(state, own, 1 - pe.pe()));
    EXPECT_EQ(detail::ptr_in_heap(state, &local, pe.pe()), nullptr);
    EXPECT_EQ(detail::ptr_in_heap(state, ptr(state, own, 1 - pe.pe()), pe.pe()), nullptr);
    EXPECT_EQ(detail::ptr_in_heap(state, own, pe.n_pes()), nullptr);
    EXPECT_EQ(detail::ptr_in_heap(state, own, -1), nullptr);
    EXPECT_EQ(detail::my_pe_of(state, GDRKIT_SHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(detail::n_pes_of(state, GDRKIT_SHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(detail::translate_pe(state, GDRKIT_SHMEM_TEAM_WORLD, 1, GDRKIT_SHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(detail::translate_pe(state, GDRKIT_SHMEM_TEAM_WORLD, 1, GDRKIT_SHMEM_TEAM_WORLD), 1);
  });
}

TEST(NvshmemGpu, MaxlocReturnsTheLocationOfTheMaximum) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    const State state = pe.gpu_code().state();
    auto* const pairs = tests::zeroed<double>(pe, 64 / sizeof(double));
    for (const double greatest : {5.0, -5.0}) {
      pairs[0] = pe.pe() == 1 ? greatest : -10.0;
      pairs[1] = 100.0 + pe.pe();
      ASSERT_TRUE(detail::reduce_maximum_with_location(state, GDRKIT_SHMEM_TEAM_WORLD, pairs + 2, pairs, 1, thread()));
      EXPECT_EQ(pairs[2], greatest);
      EXPECT_EQ(pairs[3], 101.0);
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem
