// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit/shmem_device.cuh between PEs of two nodes, and within each: two PEs of each node, numbered in turn.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gdrkit/shmem_collectives.cuh"
#include "gdrkit/shmem_device.cuh"
#include "support/results.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::shmem {
namespace {

using ::testing::HasSubstr;
using tests::failed;
using tests::ShmemJobOptions;
using tests::succeeded;

constexpr std::size_t words = 64;

/// Host threads call what GPU kernels do; device_test does the same in GPU kernels.
void run_as_gpu_kernels(
    int n_pes, shmem_impl::transport::RemoteWay way,
    const std::function<void(shmem_impl::core::Pe&, const State&, std::uint64_t*)>& body,
    const std::function<int(int pe)>& machine_of = [](int pe) { return pe % 2; }) {
  ShmemJobOptions job;
  job.n_pes = n_pes;
  job.is_p2p_disabled = true;
  job.remote_way = way;
  job.machine_of = machine_of;
  job.heap_max_bytes = std::uint64_t{32} << 20;  // so teams have 16 KiB of scratch memory
  tests::run_shmem_job(job, [&](shmem_impl::core::Pe& pe) {
    ASSERT_TRUE(succeeded(pe.gpu_code().watch()));
    auto* const object = tests::zeroed<std::uint64_t>(pe, words);
    body(pe, pe.gpu_code().state(), object);
  });
}

std::uint64_t word_at(shmem_impl::core::Pe& pe, const std::uint64_t* address) {
  std::uint64_t word = 0;
  const auto bytes = tests::device_bytes(pe, address, sizeof word);
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

class ShmemProxied : public ::testing::TestWithParam<shmem_impl::transport::RemoteWay> {};

TEST_P(ShmemProxied, EveryPeReachesEveryOther) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const auto own = static_cast<std::uint64_t>(pe.pe());
    EXPECT_EQ(pe.node_pes(), 2);
    for (int other = 0; other < pe.n_pes(); ++other) {
      EXPECT_EQ(ptr(state, object, other) != nullptr, other % 2 == pe.pe() % 2) << other;
      p(state, object + own, 100 + own, other);
      atomic_add<std::uint64_t>(state, object + 8, 1, other);
    }
    ASSERT_TRUE(barrier_all(state, thread()));
    for (int other = 0; other < pe.n_pes(); ++other) {
      EXPECT_EQ(word_at(pe, object + other), 100U + static_cast<unsigned>(other));
      EXPECT_EQ(g(state, object + other, other), 100U + static_cast<unsigned>(other));
      EXPECT_EQ(atomic_fetch(state, object + 8, other), 4U);
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Each update returns the old value, for words of either size.
TEST_P(ShmemProxied, AtomicsReturnTheOldValue) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    EXPECT_EQ(atomic_swap<std::uint64_t>(state, object, 12, other), 0U);
    EXPECT_EQ(atomic_fetch_add<std::uint64_t>(state, object, 3, other), 12U);
    EXPECT_EQ(atomic_fetch_or<std::uint64_t>(state, object, 0xf0, other), 15U);
    EXPECT_EQ(atomic_fetch_and<std::uint64_t>(state, object, 0x3c, other), 0xffU);
    EXPECT_EQ(atomic_fetch_xor<std::uint64_t>(state, object, 0xff, other), 0x3cU);
    EXPECT_EQ(atomic_compare_swap<std::uint64_t>(state, object, 1, 2, other), 0xc3U);
    EXPECT_EQ(atomic_compare_swap<std::uint64_t>(state, object, 0xc3, 2, other), 0xc3U);
    EXPECT_EQ(atomic_fetch(state, object, other), 2U);
    atomic_set<std::uint64_t>(state, object, ~std::uint64_t{0}, other);
    EXPECT_EQ(atomic_fetch(state, object, other), ~std::uint64_t{0});
    auto* const narrow = reinterpret_cast<std::int32_t*>(object + 1);
    EXPECT_EQ(atomic_swap(state, narrow, -7, other), 0);
    EXPECT_EQ(atomic_fetch_add(state, narrow, -1, other), -7);
    EXPECT_EQ(g(state, narrow, other), -8);
    EXPECT_EQ(g(state, narrow + 1, other), 0) << "the next word";
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Odd sizes: in the command, and from memory; blocking and not.
TEST_P(ShmemProxied, PutsAndGetsCopyExactlyTheRange) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    auto* const bytes = reinterpret_cast<unsigned char*>(object);
    for (const std::size_t size : {1U, 3U, 8U, 9U, 100U}) {
      for (const bool is_blocking : {true, false}) {
        std::vector<unsigned char> source(size);
        for (std::size_t i = 0; i < size; ++i) source[i] = static_cast<unsigned char>(size + i + (is_blocking ? 1 : 0));
        if (is_blocking) {
          put(state, bytes + 5, source.data(), size, other, thread());
        } else {
          put_nbi(state, bytes + 5, source.data(), size, other, thread());
        }
        quiet(state);
        std::vector<unsigned char> seen(size + 2, 0xaa);
        get(state, seen.data(), bytes + 4, size + 2, other, thread());
        EXPECT_TRUE(std::equal(source.begin(), source.end(), seen.begin() + 1)) << size;
        EXPECT_EQ(seen[0], 0);
        if (size == 100) {
          EXPECT_EQ(seen[size + 1], 0);
        }
      }
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// A PE that observes the signal observes the data, for SET and ADD, and after a fence.
TEST_P(ShmemProxied, SignalsArriveAfterTheirData) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    std::uint64_t* const target = object + 1;
    std::uint64_t* const reply = object + 40;
    for (std::uint64_t round = 1; round <= 60; ++round) {
      if (pe.pe() == 0) {
        const std::vector<std::uint64_t> data(32, round);
        if (round % 3 == 0) {
          put_nbi(state, target, data.data(), 256, other, thread());
          fence(state);
          signal_op(state, object, round, GDRKIT_SHMEM_SIGNAL_SET, other);
          quiet(state);
        } else {
          put_signal(state, target, data.data(), 256, object, round % 3 == 1 ? 1 : round,
                     round % 3 == 1 ? GDRKIT_SHMEM_SIGNAL_ADD : GDRKIT_SHMEM_SIGNAL_SET, other, thread());
        }
        ASSERT_TRUE(wait_until<std::uint64_t>(state, reply, GDRKIT_SHMEM_GE, round));
      } else {
        ASSERT_TRUE(signal_wait_until(state, object, GDRKIT_SHMEM_GE, round));
        for (int i = 0; i < 32; ++i) ASSERT_EQ(word_at(pe, target + i), round);
        signal_op(state, reply, round, GDRKIT_SHMEM_SIGNAL_SET, other);
      }
    }
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// A GPU kernel that ends without quiet: the host's completes what it left in the ring.
TEST_P(ShmemProxied, HostQuietCompletesCommandsOfEndedGpuKernels) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
      for (std::size_t i = 0; i < words; ++i) p(state, object + i, round, 1 - pe.pe());
      ASSERT_TRUE(succeeded(pe.barrier_all()));
      for (std::size_t i = 0; i < words; ++i) ASSERT_EQ(word_at(pe, object + i), round);
      ASSERT_TRUE(succeeded(pe.barrier_all()));
    }
  });
}

TEST_P(ShmemProxied, NextQuietReportsFailedOperations) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    const int other = 1 - pe.pe();
    std::uint64_t foreign = 0;
    EXPECT_EQ(g(state, &foreign, other), 0U);
    auto result = pe.quiet();
    const std::string failure = "PE " + std::to_string(pe.pe()) +
                                ": an operation of a GPU kernel failed (get of 8 bytes from PE " +
                                std::to_string(other);
    ASSERT_TRUE(failed(result, EINVAL, HasSubstr(failure)));
    EXPECT_THAT(result.error().text(), HasSubstr("is not in this PE's symmetric heap"));
    EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
    (void)atomic_fetch_add<std::uint64_t>(state, reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(object) + 4),
                                          1, other);
    EXPECT_TRUE(failed(pe.quiet(), EINVAL, testing::HasSubstr("the address is not a multiple of 8 bytes")));
    p<std::uint64_t>(state, object, 7, other);
    EXPECT_EQ(g(state, object, other), 7U) << "the ring goes on";
    ASSERT_TRUE(barrier_all(state, thread()));
  });
}

/// Element `index` of PE `pe`'s source in a round.
std::uint32_t element(int pe, unsigned round, std::size_t index) {
  return static_cast<std::uint32_t>(pe) * 1'000'003 + round * 7919 + static_cast<std::uint32_t>(index) * 31;
}

/// The collectives of one PE in a team, whose members are given as PEs of the job.
class Collectives {
 public:
  Collectives(shmem_impl::core::Pe& pe, const State& state, Team team, std::vector<int> members)
      : pe_(pe), state_(state), team_(team), members_(std::move(members)) {
    EXPECT_EQ(team_n_pes(state, team), static_cast<int>(members_.size()));
    for (std::uint32_t** const buffer : {&source_, &target_}) {
      auto made = pe.allocate(most * 4 * 4 + 64, 1, true);  // the same on all PEs
      EXPECT_TRUE(made) << made.error().text();
      *buffer = static_cast<std::uint32_t*>(*made);
    }
  }

  /// Each operation with `count` elements, without synchronization between them. `shift`: of the addresses, in
  /// elements.
  void run_all(unsigned round, std::size_t count, std::size_t shift) {
    SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(count) + " elements");
    const std::size_t n = members_.size();
    const auto own = static_cast<std::size_t>(team_my_pe(state_, team_));
    std::uint32_t* const source = source_ + shift;
    std::uint32_t* const target = target_ + shift;
    std::vector<std::uint32_t> mine(n * count), expected(count);
    const auto set = [&](unsigned number) {
      for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = element(pe_.pe(), number, i);
      write(source, mine);
      write(target, std::vector<std::uint32_t>(n * count + 8, 0xeeeeeeee));
    };
    set(round);
    const auto root = static_cast<int>(round % n);
    ASSERT_TRUE(broadcast(state_, team_, target, source, count * 4, root, thread()));
    for (std::size_t i = 0; i < count; ++i) expected[i] = element(members_[static_cast<std::size_t>(root)], round, i);
    check(target, expected, "broadcast");
    set(round + 1);
    ASSERT_TRUE(reduce<GDRKIT_SHMEM_SUM>(state_, team_, target, source, count, thread()));
    for (std::size_t i = 0; i < count; ++i) expected[i] = sum(round + 1, i);
    check(target, expected, "reduce");
    set(round + 2);
    ASSERT_TRUE(reducescatter<GDRKIT_SHMEM_SUM>(state_, team_, target, source, count, thread()));
    for (std::size_t i = 0; i < count; ++i) expected[i] = sum(round + 2, own * count + i);
    check(target, expected, "reducescatter");
    expected.resize(n * count);
    set(round + 3);
    ASSERT_TRUE(fcollect(state_, team_, target, source, count * 4, thread()));
    for (std::size_t i = 0; i < n * count; ++i) expected[i] = element(members_[i / count], round + 3, i % count);
    check(target, expected, "fcollect");
    set(round + 4);
    ASSERT_TRUE(alltoall(state_, team_, target, source, count * 4, thread()));
    for (std::size_t i = 0; i < n * count; ++i) {
      expected[i] = element(members_[i / count], round + 4, own * count + i % count);
    }
    check(target, expected, "alltoall");
    run_in_place(round + 5, count, source);
    ASSERT_TRUE(team_sync(state_, team_, thread()));
  }

  static constexpr std::size_t most = 8000;

 private:
  void run_in_place(unsigned round, std::size_t count, std::uint32_t* target) {
    std::vector<std::uint32_t> mine(count), expected(count);
    for (std::size_t i = 0; i < count; ++i) mine[i] = element(pe_.pe(), round, i);
    for (std::size_t i = 0; i < count; ++i) expected[i] = sum(round, i);
    write(target, mine);
    ASSERT_TRUE(reduce<GDRKIT_SHMEM_SUM>(state_, team_, target, target, count, thread()));
    check(target, expected, "reduce in place");
    std::uint32_t* const own = target + static_cast<std::size_t>(team_my_pe(state_, team_)) * count;
    write(own, mine);
    ASSERT_TRUE(fcollect(state_, team_, target, own, count * 4, thread()));
    expected.resize(members_.size() * count);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = element(members_[i / count], round, i % count);
    check(target, expected, "fcollect in place");
  }
  [[nodiscard]] std::uint32_t sum(unsigned round, std::size_t index) const {
    std::uint32_t all = 0;
    for (const int pe : members_) all += element(pe, round, index);
    return all;
  }
  void write(std::uint32_t* at, const std::vector<std::uint32_t>& values) {
    ASSERT_TRUE(succeeded(pe_.transfers().put(at, values.data(), values.size() * 4, pe_.pe(), false)));
  }
  void check(const std::uint32_t* at, const std::vector<std::uint32_t>& expected, const char* what) {
    const auto bytes = tests::device_bytes(pe_, at, expected.size() * 4);
    std::vector<std::uint32_t> seen(expected.size());
    if (!bytes.empty()) std::memcpy(seen.data(), bytes.data(), bytes.size());
    ASSERT_EQ(seen, expected) << what;
  }

  shmem_impl::core::Pe& pe_;
  const State& state_;
  const Team team_;
  const std::vector<int> members_;
  std::uint32_t* source_ = nullptr;
  std::uint32_t* target_ = nullptr;
};

/// Two PEs on each of two nodes. Scratch memory is small, so that the larger sizes need several turns.
TEST_P(ShmemProxied, CollectivesReachPesOfThisNodeAndOfOthers) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t*) {
    Collectives world(pe, state, GDRKIT_SHMEM_TEAM_WORLD, {0, 1, 2, 3});
    unsigned round = 0;
    for (const std::size_t count : {1U, 2U, 3U, 250U, static_cast<unsigned>(Collectives::most)}) {
      for (const std::size_t shift : {0U, 1U}) world.run_all(round += 10, count, shift);
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

TEST_P(ShmemProxied, CollectivesSupportReorderedTeams) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t*) {
    const Team shuffled = tests::shuffled_team(pe);
    auto last = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 1, 1, 3);
    ASSERT_TRUE(last);
    Collectives all(pe, state, shuffled, {2, 0, 3, 1});
    for (int member = 0; member < 4; ++member) {
      const int of_job = team_translate_pe(state, shuffled, member, GDRKIT_SHMEM_TEAM_WORLD);
      EXPECT_EQ(tests::shuffled_number(of_job, 4), member);
      EXPECT_EQ(team_translate_pe(state, GDRKIT_SHMEM_TEAM_WORLD, of_job, shuffled), member);
      if (pe.pe() != 0) {
        EXPECT_EQ(team_translate_pe(state, shuffled, member, *last), of_job - 1);
      }
    }
    Collectives three(pe, state, pe.pe() == 0 ? Team{GDRKIT_SHMEM_TEAM_WORLD} : *last,
                      pe.pe() == 0 ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{1, 2, 3});
    for (unsigned round = 0; round < 5; ++round) {
      all.run_all(100 * round, 20 + round, 0);
      if (pe.pe() != 0) three.run_all(100 * round + 50, 30, 0);
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// PEs 0, 1 and 3 are on one node.
TEST_P(ShmemProxied, TranslatesNumbersOfTeamsWithGaps) {
  const auto body = [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t*) {
    const std::vector<int> members = pe.pe() == 2 ? std::vector<int>{2} : std::vector<int>{0, 1, 3};
    ASSERT_EQ(team_n_pes(state, GDRKIT_SHMEM_TEAM_NODE), static_cast<int>(members.size()));
    for (int of_job = 0; of_job < 4; ++of_job) {
      const auto found = std::find(members.begin(), members.end(), of_job) - members.begin();
      const int member = found == static_cast<int>(members.size()) ? -1 : static_cast<int>(found);
      EXPECT_EQ(team_translate_pe(state, GDRKIT_SHMEM_TEAM_WORLD, of_job, GDRKIT_SHMEM_TEAM_NODE), member);
      if (member < 0) continue;
      EXPECT_EQ(team_translate_pe(state, GDRKIT_SHMEM_TEAM_NODE, member, GDRKIT_SHMEM_TEAM_WORLD), of_job);
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  };
  run_as_gpu_kernels(4, GetParam(), body, [](int pe) { return pe == 2 ? 1 : 0; });
}

/// Two threads of each PE, each with a team of its own, at the same time. They begin in the opposite order on odd PEs,
/// so a collective that kept the proxy busy until other PEs arrive would never end.
TEST_P(ShmemProxied, CollectivesOfTwoTeamsRunAtTheSameTime) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    auto other = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 0, 1, 2);
    ASSERT_TRUE(other);
    Collectives first(pe, state, GDRKIT_SHMEM_TEAM_WORLD, {0, 1});
    Collectives second(pe, state, *other, {0, 1});
    std::thread second_thread([&] {
      if (pe.pe() == 1) {
        EXPECT_TRUE(wait_until<std::uint64_t>(state, object, GDRKIT_SHMEM_GE, 1));
      }
      for (unsigned round = 0; round < 20; ++round) second.run_all(100 * round, 17, 0);
    });
    if (pe.pe() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      p<std::uint64_t>(state, object, 1, 1);
    }
    for (unsigned round = 0; round < 20; ++round) first.run_all(100 * round + 50, 29, 0);
    second_thread.join();
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// A PE that returns from the barrier sees earlier puts of all PEs; one that returns from sync has waited for them.
TEST_P(ShmemProxied, TeamBarriersCompletePuts) {
  run_as_gpu_kernels(4, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
      const std::vector<std::uint64_t> data(8, round);
      for (int other = 0; other < 4; ++other) put_nbi(state, object + 8 * pe.pe(), data.data(), 64, other, thread());
      ASSERT_TRUE(team_barrier(state, GDRKIT_SHMEM_TEAM_WORLD, thread()));
      for (int i = 0; i < 32; ++i) ASSERT_EQ(word_at(pe, object + i), round) << i;
      ASSERT_TRUE(team_sync(state, GDRKIT_SHMEM_TEAM_WORLD, thread()));
    }
    // The CPU's calls use the same team.
    EXPECT_TRUE(succeeded(pe.collectives().run(
        {shmem_impl::collective::CollectiveOperation::fcollect, GDRKIT_SHMEM_TEAM_WORLD, object, object + 32, 8})));
    EXPECT_TRUE(team_sync(state, GDRKIT_SHMEM_TEAM_NODE, thread()));
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

/// The proxy writes the data of collectives to the reserved part of the heaps only.
TEST_P(ShmemProxied, CollectivesStayInTheReservedScratchMemory) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State&, std::uint64_t* object) {
    const TeamState team = [&] {
      TeamEntry entry{};
      const auto bytes = tests::device_bytes(pe, reinterpret_cast<void*>(pe.gpu_code().state().teams_address), 256);
      std::memcpy(&entry, bytes.data(), sizeof entry);
      return entry.state;
    }();
    auto* const scratch = reinterpret_cast<std::uint64_t*>(team.scratch_address);
    auto* const word = reinterpret_cast<std::uint64_t*>(team.words_address) + pe.pe();
    const int other = 1 - pe.pe();
    EXPECT_TRUE(failed(pe.transfers().put_to_team(object, object, 8, word, 1, other), EINVAL,
                       testing::HasSubstr("the range is not in the memory that gdrkit reserves for collectives")));
    EXPECT_FALSE(pe.transfers().put_to_team(scratch, object, 8, object, 1, other));
    EXPECT_FALSE(pe.transfers().put_to_team(scratch, object, std::size_t{1} << 24, word, 1, other));
    EXPECT_FALSE(pe.transfers().put_to_team(scratch, object, 8, word, 1, 2)) << "no such PE";
    EXPECT_TRUE(succeeded(pe.barrier_all()));
    EXPECT_EQ(word_at(pe, word), 0U);
  });
}

/// PE 1 does not take part: the wait of PE 0 ends, the error names PE 1, and the team is unusable.
TEST_P(ShmemProxied, ACollectiveThatTimesOutNamesThePe) {
  run_as_gpu_kernels(2, GetParam(), [](shmem_impl::core::Pe& pe, const State& state, std::uint64_t* object) {
    auto team = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 0, 1, 2);
    ASSERT_TRUE(team);
    if (pe.pe() == 0) {
      State impatient = state;
      impatient.limit_ns = 100'000'000;
      EXPECT_FALSE(reduce<GDRKIT_SHMEM_SUM>(impatient, *team, object, object + 1, 1, thread()));
      EXPECT_FALSE(team_sync(state, *team, thread())) << "does not wait again";
      EXPECT_TRUE(failed(pe.quiet(), ETIMEDOUT, testing::HasSubstr("PE 1 did not take part")));
      EXPECT_TRUE(succeeded(pe.quiet())) << "reported once";
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, ShmemProxied,
                         ::testing::Values(shmem_impl::transport::RemoteWay::staged,
                                           shmem_impl::transport::RemoteWay::direct),
                         [](const auto& one) {
                           return one.param == shmem_impl::transport::RemoteWay::staged ? "staged" : "direct";
                         });

}  // namespace
}  // namespace gdrkit::shmem
