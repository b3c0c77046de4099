// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/thread_allgather.hpp"
#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// What is wrong with the application's all-gather.
struct Mistake {
  int result = 0;
  bool is_reversed = false;
};

struct Seat {
  gdrkit::tests::ThreadAllgather* allgather;
  int pe;
  int n_pes;
  Mistake mistake;
};

int gather_as_application(const void* mine, std::size_t size_bytes, void* all, void* argument) {
  const Seat& seat = *static_cast<Seat*>(argument);
  const int place = seat.mistake.is_reversed ? seat.n_pes - 1 - seat.pe : seat.pe;
  if (seat.allgather->gather(static_cast<std::size_t>(place), mine, size_bytes, all) != 0) return -1;
  return seat.mistake.result;
}

std::vector<std::string> run_by_callback(int n_pes, const Mistake& mistake,
                                         const std::function<std::string(bootstrap::Exchange&)>& as_pe) {
  gdrkit::tests::ThreadAllgather allgather(n_pes);
  return run_threads(n_pes, [&](int pe) {
    Seat seat{&allgather, pe, n_pes, mistake};
    auto exchange = bootstrap::exchange_by_callback(gather_as_application, &seat, pe, n_pes);
    return exchange ? as_pe(**exchange) : end_of(exchange);
  });
}

TEST(CallbackExchange, GathersDataOfAllPes) {
  EXPECT_THAT(run_by_callback(4, {},
                              [](bootstrap::Exchange& exchange) {
                                return gather_and_check(exchange, 0, "one") + gather_and_check(exchange, 1, "two");
                              }),
              Each(std::string()));
}

TEST(CallbackExchange, ReportsTheErrorCodeOfTheFunction) {
  EXPECT_THAT(
      run_by_callback(2, {.result = 5},
                      [](bootstrap::Exchange& exchange) { return gather_and_check(exchange, 0, "heap sizes"); }),
      Each(failed_with(EIO, "'heap sizes': the application's all-gather function returned 5")));
}

TEST(CallbackExchange, ReportsMismatchedSteps) {
  const auto ends = run_by_callback(2, {}, [](bootstrap::Exchange& exchange) {
    return gather_and_check(exchange, 0, exchange.pe() == 0 ? "one" : "two");
  });
  EXPECT_THAT(ends, Each(failed_with(EPROTO, "'two'", "'one'")));
}

TEST(CallbackExchange, ReportsPartsInTheWrongOrder) {
  EXPECT_THAT(run_by_callback(3, {.is_reversed = true},
                              [](bootstrap::Exchange& exchange) { return gather_and_check(exchange, 0, "one"); }),
              Each(HasSubstr("order the data by PE number")));
}

TEST(CallbackExchange, RejectsANullFunction) {
  EXPECT_THAT(end_of(bootstrap::exchange_by_callback(nullptr, nullptr, 0, 1)), failed_with(EINVAL));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
