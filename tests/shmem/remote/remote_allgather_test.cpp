// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Allgathers by messages: the data of all PEs reaches all PEs, in few messages.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <vector>

#include "platform/gpu_code/collective_params.hpp"
#include "tests/shmem/remote/faulty_job.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using tests::run_shmem_job;
using tests::succeeded;

constexpr std::uint64_t first_place_of_split_teams = 3;
std::atomic<int> team_messages{0};

/// UCX, with the messages of split teams counted.
platform::UcxCalls counting_calls() {
  platform::UcxCalls calls = tests::real_ucx();
  calls.am_send_nbx = [](platform::UcxEndpoint* endpoint, unsigned id, const void* header, std::size_t header_bytes,
                         const void* data, std::size_t size_bytes, const platform::UcxRequestParams* params) -> void* {
    const RemoteMessage message = tests::message_of(header, header_bytes);
    const bool is_of_team = message.kind == RemoteMessageKind::allgather &&
                            message.offset >= first_place_of_split_teams && message.offset < GDRKIT_SHMEM_TEAMS_MAX;
    if (is_of_team) ++team_messages;
    return tests::real_ucx().am_send_nbx(endpoint, id, header, header_bytes, data, size_bytes, params);
  };
  return calls;
}

class RemoteAllgather : public tests::FaultyJob, public ::testing::WithParamInterface<int> {};

int most_messages(int members) {
  int rounds = 0;
  for (int known = 1; known < members; known *= 4) ++rounds;
  return 3 * rounds;
}

/// Two PEs share each machine; the first PE is not in the team.
TEST_P(RemoteAllgather, ExchangesDataOfATeamInFewMessages) {
  constexpr int allgathers = 6;
  constexpr std::size_t part = 200;
  const int size = GetParam();
  const auto calls = counting_calls();
  team_messages = 0;
  tests::ShmemJobOptions job{
      .n_pes = size + 1, .heap_bytes = std::uint64_t{1} << 20, .heap_max_bytes = std::uint64_t{32} << 20};
  job.is_p2p_disabled = true;
  job.machine_of = [](int pe) { return pe / 2; };
  job.ucx_calls = &calls;
  run_shmem_job(job, [&](core::Pe& pe) {
    auto team = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, size, -1, size);
    ASSERT_TRUE(team) << team.error().text();
    auto* const source = tests::zeroed<char>(pe, part);
    auto* const target = tests::zeroed<char>(pe, static_cast<std::size_t>(size) * part);
    for (int round = 0; pe.pe() != 0 && round < allgathers; ++round) {
      std::vector<std::uint8_t> own(part);
      std::iota(own.begin(), own.end(), static_cast<std::uint8_t>(7 * pe.pe() + round));
      ASSERT_TRUE(succeeded(pe.transfers().put(source, own.data(), part, pe.pe(), false)));
      ASSERT_TRUE(succeeded(pe.quiet()));
      ASSERT_TRUE(
          succeeded(pe.collectives().run({collective::CollectiveOperation::fcollect, *team, target, source, part})));
      std::vector<std::uint8_t> expected;
      for (int member = size; member >= 1; --member) {
        std::vector<std::uint8_t> theirs(part);
        std::iota(theirs.begin(), theirs.end(), static_cast<std::uint8_t>(7 * member + round));
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      ASSERT_EQ(tests::device_bytes(pe, target, expected.size()), expected) << "PE " << pe.pe();
    }
    EXPECT_TRUE(succeeded(pe.barrier_all()));
  });
  EXPECT_GT(team_messages, 0);
  EXPECT_LE(team_messages, allgathers * size * most_messages(size));
  EXPECT_EQ(team_messages % (allgathers * size), 0) << "not all members send the same";
}

INSTANTIATE_TEST_SUITE_P(Members, RemoteAllgather, ::testing::Values(2, 3, 4, 5, 6, 7, 8, 9));

/// More than one message carries.
class LongData final : public AllgatherData {
 public:
  explicit LongData(int pe) : bytes(200'001, static_cast<char>(pe)) { bytes.back() = 'e'; }
  [[nodiscard]] std::vector<char> pack(std::size_t) const override { return bytes; }
  base::Status unpack(std::size_t, const std::vector<char>& theirs) override {
    received = theirs;
    return {};
  }
  std::vector<char> bytes;
  std::vector<char> received;
};

using RemoteAllgatherOfTwo = tests::FaultyJob;

TEST_F(RemoteAllgatherOfTwo, ExchangesDataOfManyMessages) {
  tests::ShmemJobOptions job;
  job.is_p2p_disabled = true;
  run_shmem_job(job, [](core::Pe& pe) {
    const std::vector<int> members = {0, 1};
    const std::vector<std::uint64_t> counts = {40, 0};
    for (std::uint64_t number = 1; number <= 3; ++number) {
      LongData data(pe.pe());
      const Allgather call{60, members, static_cast<std::size_t>(pe.pe()), counts, number};
      ASSERT_TRUE(succeeded(pe.connections().remote()->allgather(call, data, "test")));
      EXPECT_EQ(data.received, LongData(1 - pe.pe()).bytes);
    }
  });
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
