// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Sixty-four PEs, each a process, on the available cores.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "shmem/core/pe.hpp"
#include "support/results.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

constexpr int n_pes = 64;
using Words = std::vector<std::uint64_t>;
using gdrkit::tests::text_of;

/// Each PE writes its word at all others, and all count at PE 0.
std::string exchange_words(core::Pe& pe, std::uint64_t* words, std::uint64_t* counter) {
  const std::uint64_t mine = 1000 + static_cast<unsigned>(pe.pe());
  for (int other = 0; other < n_pes; ++other) {
    if (auto put = pe.transfers().put(words + pe.pe(), &mine, sizeof mine, other, false); !put) return text_of(put);
  }
  std::uint64_t before = 0;
  if (auto added = pe.transfers().atomic(counter, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &before, 0); !added)
    return text_of(added);
  if (auto synchronized = pe.barrier_all(); !synchronized) return text_of(synchronized);
  Words seen(n_pes), expected(n_pes);
  std::iota(expected.begin(), expected.end(), 1000);
  if (auto got = pe.transfers().get(seen.data(), words, n_pes * 8, pe.pe(), false); !got) return text_of(got);
  if (seen != expected) return "wrong words";
  std::uint64_t counted = 0;
  if (auto got = pe.transfers().get(&counted, counter, 8, 0, false); !got) return text_of(got);
  return counted == n_pes ? "" : "counted " + std::to_string(counted);
}

std::string reduce_and_exchange(core::Pe& pe, std::uint64_t* words) {
  collective::CollectiveCall call{collective::CollectiveOperation::reduce, GDRKIT_SHMEM_TEAM_WORLD, words + n_pes,
                                  words, n_pes * 8};
  call.type = GDRKIT_SHMEM_TYPE_UINT64;
  if (auto done = pe.collectives().run(call); !done) return text_of(done);
  std::uint64_t sum = 0;
  if (auto got = pe.transfers().get(&sum, words + 2 * n_pes - 1, 8, pe.pe(), false); !got) return text_of(got);
  if (sum != n_pes * (1000ULL + n_pes - 1)) return "a sum of " + std::to_string(sum);
  call = {collective::CollectiveOperation::alltoall, GDRKIT_SHMEM_TEAM_WORLD, words + n_pes, words, 8};
  if (auto done = pe.collectives().run(call); !done) return text_of(done);
  Words seen(n_pes);
  if (auto got = pe.transfers().get(seen.data(), words + n_pes, n_pes * 8, pe.pe(), false); !got) return text_of(got);
  return seen == Words(n_pes, 1000 + static_cast<unsigned>(pe.pe())) ? "" : "wrong parts of an alltoall";
}

std::string run_as(const bootstrap::UniqueId& id, int number) {
  core::PeOptions options;
  options.n_pes = n_pes;
  options.pe = number;
  options.unique_id = &id;
  options.limit = std::chrono::seconds(120);
  options.heap_bytes = std::uint64_t{1} << 20;
  options.heap_max_bytes = std::uint64_t{128} << 20;
  auto pe = core::Pe::start(options);
  if (!pe) return pe.error().text();
  auto words = (*pe)->allocate(2 * n_pes * 8, 1, true);
  auto counter = (*pe)->allocate(8, 1, true);
  if (!words || !counter) return "no memory";
  auto* const place = static_cast<std::uint64_t*>(*words);
  if (auto end = exchange_words(**pe, place, static_cast<std::uint64_t*>(*counter)); !end.empty()) return end;
  if (auto end = reduce_and_exchange(**pe, place); !end.empty()) return end;
  auto grown = (*pe)->allocate(std::size_t{80} << 20, 1, false);
  if (!grown) return grown.error().text();
  return text_of((*pe)->finalize());
}

TEST(ManyProcesses, Run64PesFromInitToFinalize) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  const auto begin = std::chrono::steady_clock::now();
  auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  EXPECT_THAT(run_processes(n_pes, [&](int pe) { return run_as(*id, pe); }), ::testing::Each(std::string()));
  std::printf("64 PEs: %.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
