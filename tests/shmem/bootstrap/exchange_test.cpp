// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>

#include "support/process_resources.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Exchange, GathersOnAnyNumberOfPes) {
  for (const int n_pes : {1, 2, 3, 8, 64}) {
    const auto ends = run_pes(n_pes, long_limit, [](bootstrap::Exchange& exchange) {
      std::string end;
      for (int round = 0; round < 20 && end.empty(); ++round) end = gather_and_check(exchange, round, "numbers");
      return end;
    });
    EXPECT_THAT(ends, Each(std::string())) << n_pes << " PEs";
  }
}

TEST(Exchange, GathersEmptyAndLargeData) {
  const auto ends = run_pes(3, long_limit, [](bootstrap::Exchange& exchange) -> std::string {
    if (auto none = exchange.allgather(nullptr, 0, nullptr, "nothing"); !none) return end_of(none);
    constexpr std::size_t size = 3'000'000;
    const std::vector<char> mine(size, static_cast<char>('a' + exchange.pe()));
    std::vector<char> all(3 * size);
    if (auto much = exchange.allgather(mine.data(), size, all.data(), "much"); !much) return end_of(much);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] != static_cast<char>('a' + i / size)) return "wrong byte";
    }
    return "";
  });
  EXPECT_THAT(ends, Each(std::string()));
}

TEST(Exchange, AllConnectedPesReportMissingPes) {
  const auto ends = run_pes(6, 300ms, [](bootstrap::Exchange&) -> std::string { return "joined"; }, {2, 4, 5});
  const ::testing::Matcher<std::string> failed =
      failed_with(ETIMEDOUT, "the job of 6 PEs: PEs 2, 4 and 5 did not connect", "within 300 ms");
  EXPECT_THAT(ends, ElementsAre(failed, failed, "absent", failed, "absent", "absent"));
}

TEST(Exchange, ReportsPesThatSkipAStep) {
  const struct {
    int pe;
    const char* text;
  } cases[] = {{1, "during 'heap sizes': PE 1 did not take part"}, {0, "did not reply within"}};
  for (const auto& skipping : cases) {
    std::barrier all_failed(3);
    auto ends = run_pes(3, 300ms, [&](bootstrap::Exchange& exchange) {
      const auto end = exchange.pe() == skipping.pe ? "" : gather_and_check(exchange, 0, "heap sizes");
      all_failed.arrive_and_wait();  // the PE stays, and keeps its connection
      return end;
    });
    ends.erase(ends.begin() + skipping.pe);
    EXPECT_THAT(ends, Each(failed_with(ETIMEDOUT, skipping.text)));
  }
}

TEST(Exchange, ReportsPesThatLeft) {
  for (const int gone : {0, 2}) {
    auto ends = run_pes(4, long_limit, [&](bootstrap::Exchange& exchange) -> std::string {
      if (auto end = gather_and_check(exchange, 0, "first"); !end.empty()) return end;
      if (exchange.pe() == gone) return "left";
      return gather_and_check(exchange, 1, "second");
    });
    ends.erase(ends.begin() + gone);
    EXPECT_THAT(ends, Each(failed_with(ECONNRESET, "during 'second': PE " + std::to_string(gone), "has left the job")));
  }
}

TEST(Exchange, RepeatsTheFirstErrorOnLaterCalls) {
  const auto ends = run_pes(3, long_limit, [](bootstrap::Exchange& exchange) -> std::string {
    if (exchange.pe() == 1) return "left";
    const auto first = gather_and_check(exchange, 0, "first");
    return first == gather_and_check(exchange, 1, "second") ? first : "another error";
  });
  const auto failed = HasSubstr("during 'first': PE 1 has left the job");
  EXPECT_THAT(ends, ElementsAre(failed, "left", failed));
}

TEST(Exchange, ReportsDifferentSizesAndContinues) {
  const auto ends = run_pes(3, long_limit, [](bootstrap::Exchange& exchange) -> std::string {
    long long mine[2] = {};
    std::vector<char> all(64);
    const std::size_t size = exchange.pe() == 2 ? 16 : 8;
    const auto end =
        end_of(exchange.allgather(mine, size, all.data(), exchange.pe() == 2 ? "heap sizes" : "addresses"));
    return end + "|" + gather_and_check(exchange, 1, "after");
  });
  EXPECT_THAT(ends, Each(begins_with(EPROTO) +
                         "the PEs make different calls: PE 2 exchanges 16 bytes for 'heap sizes', but PE 0 exchanges "
                         "8 bytes for 'addresses'; make the same calls in the same order on all PEs|"));
}

TEST(Exchange, ReportsConflictingJobSizesAndDuplicatePes) {
  const auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  auto ends = run_threads(
      2, [&](int pe) { return end_of(bootstrap::exchange_by_unique_id(*id, pe, pe == 0 ? 2 : 3, long_limit)); });
  EXPECT_THAT(ends, Each(HasSubstr("PE 1 expects 3 PEs, but PE 0 expects 2")));

  const auto other = bootstrap::make_unique_id();
  ASSERT_TRUE(other) << other.error().text();
  ends = run_threads(
      3, [&](int i) { return end_of(bootstrap::exchange_by_unique_id(*other, i == 0 ? 0 : 1, 3, long_limit)); });
  EXPECT_THAT(ends, Each(HasSubstr("PE number 1 is used by two")));
}

TEST(Exchange, RejectsInvalidPes) {
  const auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  for (const auto& [pe, n_pes] : {std::pair{-1, 2}, {2, 2}, {0, 0}, {5, 1}}) {
    EXPECT_THAT(end_of(bootstrap::exchange_by_unique_id(*id, pe, n_pes, 1s)), failed_with(EINVAL));
  }
  EXPECT_THAT(end_of(bootstrap::exchange_by_unique_id(bootstrap::UniqueId{}, 0, 2, 1s)),
              HasSubstr("the unique id is invalid"));
  EXPECT_EQ(end_of(bootstrap::exchange_by_unique_id(*id, 0, 1, 1s)), "");
  EXPECT_THAT(end_of(bootstrap::exchange_by_unique_id(*id, 0, 1, 1s)), HasSubstr("the id was used before"));
}

TEST(Exchange, ReportsImmediatelyThatPeZeroHasExited) {
  const auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  ASSERT_EQ(end_of(bootstrap::exchange_by_unique_id(*id, 0, 1, 1s)), "");  // its listener is closed
  EXPECT_THAT(end_of(bootstrap::exchange_by_unique_id(*id, 1, 2, long_limit)),
              failed_with(ECONNRESET, "PE 0 has ended"));
}

TEST(Exchange, LeavesNoDescriptorOpen) {
  const auto round = [](bool fails) {
    return run_pes(
        5, fails ? 100ms : 30s, [](bootstrap::Exchange& exchange) { return gather_and_check(exchange, 0, "numbers"); },
        fails ? std::vector<int>{3} : std::vector<int>{});
  };
  ASSERT_THAT(round(false), Each(std::string()));
  const auto before = gdrkit::tests::count_process_resources();
  round(false);
  round(true);
  EXPECT_EQ(gdrkit::tests::count_process_resources(), before);
}

TEST(UniqueId, ReleaseClosesTheSocketOfAnUnusedId) {
  const auto before = gdrkit::tests::count_process_resources();
  std::vector<bootstrap::UniqueId> ids;
  for (int i = 0; i < 50; ++i) {
    const auto id = bootstrap::make_unique_id();
    ASSERT_TRUE(id) << id.error().text();
    ids.push_back(*id);
  }
  for (const bootstrap::UniqueId& id : ids) EXPECT_EQ(end_of(bootstrap::release_unique_id(id)), "");
  EXPECT_EQ(gdrkit::tests::count_process_resources(), before);
  EXPECT_THAT(end_of(bootstrap::release_unique_id(ids.front())), failed_with(EINVAL));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
