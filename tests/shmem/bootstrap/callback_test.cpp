// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>

#include "tests/shmem/bootstrap/threads_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// An application's all-gather between threads.
struct Board {
  explicit Board(int n) : n_pes(n), arrived(n), left(n), parts(static_cast<std::size_t>(n)) {}
  int n_pes;
  std::barrier<> arrived;
  std::barrier<> left;
  std::vector<std::string> parts;
  int result = 0;
  bool is_reversed = false;
};

struct Seat {
  Board* board;
  int pe;
};

int gather_on_board(const void* mine, std::size_t size_bytes, void* all, void* argument) {
  const Seat& seat = *static_cast<Seat*>(argument);
  Board& board = *seat.board;
  board.parts[static_cast<std::size_t>(seat.pe)].assign(static_cast<const char*>(mine), size_bytes);
  board.arrived.arrive_and_wait();
  for (int i = 0; i < board.n_pes; ++i) {
    const int from = board.is_reversed ? board.n_pes - 1 - i : i;
    const std::string& part = board.parts[static_cast<std::size_t>(from)];
    std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(i) * size_bytes, part.data(),
                std::min(size_bytes, part.size()));
  }
  board.left.arrive_and_wait();
  return board.result;
}

std::vector<std::string> run_on_board(Board* board, const std::function<std::string(bootstrap::Exchange&)>& as_pe) {
  return run_threads(board->n_pes, [&](int pe) {
    Seat seat{board, pe};
    auto exchange = bootstrap::exchange_by_callback(gather_on_board, &seat, pe, board->n_pes);
    return exchange ? as_pe(**exchange) : end_of(exchange);
  });
}

TEST(CallbackExchange, Gathers) {
  Board board(4);
  EXPECT_THAT(run_on_board(&board,
                           [](bootstrap::Exchange& exchange) {
                             return gather_and_check(exchange, 0, "one") + gather_and_check(exchange, 1, "two");
                           }),
              Each(std::string()));
}

TEST(CallbackExchange, NamesWhatTheFunctionReturned) {
  Board board(2);
  board.result = 5;
  EXPECT_THAT(
      run_on_board(&board, [](bootstrap::Exchange& exchange) { return gather_and_check(exchange, 0, "heap sizes"); }),
      Each(AllOf(StartsWith(begins_with(EIO)),
                 HasSubstr("'heap sizes': the application's all-gather function returned 5"))));
}

TEST(CallbackExchange, NamesDifferentSteps) {
  Board board(2);
  const auto ends = run_on_board(&board, [](bootstrap::Exchange& exchange) {
    return gather_and_check(exchange, 0, exchange.pe() == 0 ? "one" : "two");
  });
  EXPECT_THAT(ends, Each(AllOf(StartsWith(begins_with(EPROTO)), HasSubstr("'two'"), HasSubstr("'one'"))));
}

TEST(CallbackExchange, NamesPartsInAnotherOrder) {
  Board board(3);
  board.is_reversed = true;
  EXPECT_THAT(run_on_board(&board, [](bootstrap::Exchange& exchange) { return gather_and_check(exchange, 0, "one"); }),
              Each(HasSubstr("order the parts by PE")));
}

TEST(CallbackExchange, RefusesNoFunction) {
  EXPECT_THAT(end_of(bootstrap::exchange_by_callback(nullptr, nullptr, 0, 1)), StartsWith(begins_with(EINVAL)));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
