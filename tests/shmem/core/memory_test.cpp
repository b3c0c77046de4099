// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using tests::failed;
using tests::run_shmem_job;
using tests::ShmemJobOptions;
using tests::succeeded;

std::uint64_t offset_of(const Pe& pe, const void* address) {
  return reinterpret_cast<std::uint64_t>(address) - pe.heap().own_address(0);
}

TEST(ShmemMemory, ObjectsHaveTheSameOffsetsOnAllPes) {
  std::vector<std::vector<std::uint64_t>> offsets(4);
  run_shmem_job({.n_pes = 4}, [&](Pe& pe) {
    void* last = nullptr;
    for (const std::size_t size : {1U, 255U, 256U, 257U, 4096U, 100000U}) {
      auto made = pe.allocate(size, 1, false);
      ASSERT_TRUE(made) << made.error().text();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*made) % 256, 0U);
      offsets[static_cast<std::size_t>(pe.pe())].push_back(offset_of(pe, *made));
      last = *made;
    }
    auto aligned = pe.allocate(1, std::size_t{2} << 20, false);
    ASSERT_TRUE(aligned) << aligned.error().text();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*aligned) % (std::size_t{2} << 20), 0U);
    EXPECT_TRUE(succeeded(pe.free(last)));
    auto again = pe.allocate(100000, 1, false);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, last);
  });
  for (const auto& others : offsets) EXPECT_EQ(others, offsets[0]);
}

TEST(ShmemMemory, DoesNotFindFreedAllocations) {
  run_shmem_job({}, [](Pe& pe) {
    auto large = pe.allocate(4096, 1, false);
    ASSERT_TRUE(large) << large.error().text();
    const char* const bytes = static_cast<char*>(*large);
    for (int repeat = 0; repeat < 2; ++repeat) {
      auto found = pe.heap().find(bytes + 96, 4000);
      ASSERT_TRUE(found) << found.error().text();
      EXPECT_EQ(found->offset, offset_of(pe, bytes + 96));
      EXPECT_FALSE(pe.heap().find(bytes + 96, 4001)) << "leaves it";
    }
    ASSERT_TRUE(succeeded(pe.free(*large)));
    EXPECT_FALSE(pe.heap().find(bytes, 8));
    auto little = pe.allocate(100, 1, false);
    ASSERT_TRUE(little) << little.error().text();
    ASSERT_EQ(*little, bytes);
    EXPECT_TRUE(pe.heap().find(bytes, 100));
    EXPECT_FALSE(pe.heap().find(bytes, 4096));
    EXPECT_FALSE(pe.heap().find(bytes + 4000, 8));
  });
}

/// Each thread and each allocation, more of them than are remembered.
TEST(ShmemMemory, ManyThreadsFindManyAllocations) {
  run_shmem_job({}, [](Pe& pe) {
    std::vector<char*> made;
    for (int i = 0; i < 9; ++i) {
      auto one = pe.allocate(1000, 1, false);
      ASSERT_TRUE(one) << one.error().text();
      made.push_back(static_cast<char*>(*one));
    }
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&] {
        for (int round = 0; round < 200; ++round) {
          const char* const one = made[static_cast<std::size_t>(round) % 8];
          const auto found = pe.heap().find(one + round, 8);
          EXPECT_TRUE(found && found->offset == offset_of(pe, one + round) && found->chunk.end() > found->offset);
          EXPECT_FALSE(pe.heap().find(one + 1000, 1));
        }
      });
    }
    EXPECT_TRUE(succeeded(pe.free(made[8])));
    for (auto& thread : threads) thread.join();
  });
}

TEST(ShmemMemory, TransfersReachTheGrownHeap) {
  run_shmem_job({}, [](Pe& pe) {
    const std::uint64_t before = pe.heap().size_bytes();
    constexpr std::size_t size = std::size_t{100} << 20;
    auto made = pe.allocate(size, 1, true);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_GE(pe.heap().size_bytes(), before + size - (std::size_t{64} << 20));
    auto* const bytes = static_cast<char*>(*made);
    const std::uint64_t word = 0x1122334455667788U + static_cast<unsigned>(pe.pe());
    const int other = 1 - pe.pe();
    // The last byte of the new chunk, and a piece that crosses from the old one into it.
    const std::size_t edge = static_cast<std::size_t>(before - offset_of(pe, bytes)) - 4;
    for (const std::size_t at : {std::size_t{0}, edge, size - sizeof word}) {
      ASSERT_TRUE(succeeded(pe.transfers().put(bytes + at, &word, sizeof word, other, false)));
    }
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    for (const std::size_t at : {std::size_t{0}, edge, size - sizeof word}) {
      std::uint64_t seen = 0;
      ASSERT_TRUE(succeeded(pe.transfers().get(&seen, bytes + at, sizeof seen, pe.pe(), false)));
      EXPECT_EQ(seen, 0x1122334455667788U + static_cast<unsigned>(other)) << "at " << at;
    }
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

TEST(ShmemMemory, RejectsHugeAllocationsWithoutLeaks) {
  run_shmem_job({.heap_max_bytes = std::uint64_t{128} << 20}, [](Pe& pe) {
    const std::uint64_t used = pe.heap().used_bytes();
    EXPECT_TRUE(failed(pe.allocate(std::size_t{1} << 40, 1, false), ENOMEM));
    EXPECT_TRUE(failed(pe.allocate(SIZE_MAX, 1, false), ENOMEM));
    EXPECT_EQ(pe.heap().used_bytes(), used);
    auto small = pe.allocate(std::size_t{100} << 20, 1, false);
    EXPECT_TRUE(small) << small.error().text();
  });
}

TEST(ShmemMemory, ReportsThePeWithDifferentArguments) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    EXPECT_TRUE(failed(pe.allocate(pe.pe() == 1 ? 128 : 64, 1, false), EPROTO, testing::HasSubstr("PE 1 passed 128")));
    // The job continues.
    auto again = pe.allocate(64, 1, false);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(failed(pe.pe() == 2 ? base::Status(base::pass(pe.allocate(64, 1, false))) : pe.free(*again), EPROTO));
    EXPECT_TRUE(succeeded(pe.free(*again)));
  });
}

TEST(ShmemMemory, FreeRequiresTheAllocatedAddress) {
  run_shmem_job({}, [](Pe& pe) {
    auto made = pe.allocate(1000, 1, false);
    ASSERT_TRUE(made);
    auto* const inside = static_cast<char*>(*made) + 256;
    EXPECT_TRUE(failed(pe.free(inside), EINVAL));
    EXPECT_TRUE(failed(pe.free(reinterpret_cast<void*>(pe.heap().own_address(0))), EINVAL));
    EXPECT_TRUE(succeeded(pe.free(*made)));
    EXPECT_TRUE(failed(pe.free(*made), EINVAL));
  });
}

TEST(ShmemMemory, ZeroesReusedMemory) {
  run_shmem_job({}, [](Pe& pe) {
    auto made = pe.allocate(4096, 1, false);
    ASSERT_TRUE(made);
    const std::vector<char> ones(4096, 1);
    ASSERT_TRUE(succeeded(pe.transfers().put(*made, ones.data(), ones.size(), 1 - pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.free(*made)));
    auto again = pe.allocate(4096, 1, true);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, *made);
    std::vector<char> seen(4096, 2);
    ASSERT_TRUE(succeeded(pe.transfers().get(seen.data(), *again, seen.size(), 1 - pe.pe(), false)));
    EXPECT_EQ(seen, std::vector<char>(4096, 0));
  });
}

TEST(ShmemMemory, PointersAccessTheObjectOfEachPe) {
  run_shmem_job({.n_pes = 3}, [](Pe& pe) {
    auto made = pe.allocate(8, 1, true);
    ASSERT_TRUE(made);
    const auto mine = static_cast<std::uint64_t>(pe.pe()) + 1;
    ASSERT_TRUE(succeeded(pe.transfers().put(*made, &mine, 8, pe.pe(), false)));
    ASSERT_TRUE(succeeded(pe.barrier_all()));
    for (int other = 0; other < 3; ++other) {
      auto pointer = pe.connections().pointer(*made, other);
      if (other != pe.pe() && pe.connections().remote() != nullptr) {
        EXPECT_TRUE(failed(pointer, EOPNOTSUPP));
        continue;
      }
      ASSERT_TRUE(pointer) << pointer.error().text();
      EXPECT_EQ(tests::device_bytes(pe, *pointer, 1)[0], other + 1);
    }
    EXPECT_TRUE(failed(pe.connections().pointer(*made, 3), EINVAL));
    ASSERT_TRUE(succeeded(pe.sync_all()));
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
