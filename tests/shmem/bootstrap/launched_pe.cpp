// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One PE that a launcher starts: makes a job from its environment, twice, and checks what it gathers. Exits with 0 if
// all is right. With an argument, PE 1 does not join, and the others wait for a second. It exits later than they do,
// because Open MPI 5 ends a job whose PEs disagree whether to use PMIx.
#include <chrono>
#include <cstdio>
#include <thread>

#include "shmem/bootstrap/exchange.hpp"

using namespace gdrkit;

int main(int argc, char** /*argv*/) {
  (void)std::setvbuf(stderr, nullptr, _IOLBF, BUFSIZ);  // lines of two PEs must not mix
  const auto environment = shmem_impl::bootstrap::read_launch_environment();
  if (!environment) return std::fprintf(stderr, "%s\n", environment.error().text()), 1;
  if (argc > 1 && environment->pe == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(5));
    return 0;
  }
  const auto limit = std::chrono::seconds(argc > 1 ? 1 : 30);
  for (int round = 0; round < 2; ++round) {
    auto exchange = shmem_impl::bootstrap::exchange_by_environment(*environment, limit);
    if (!exchange) return std::fprintf(stderr, "%s\n", exchange.error().text()), 1;
    const auto all = (*exchange)->gather(100 * environment->pe + round, "numbers");
    if (!all) return std::fprintf(stderr, "%s\n", all.error().text()), 1;
    for (int pe = 0; pe < environment->n_pes; ++pe) {
      if ((*all)[static_cast<std::size_t>(pe)] != 100 * pe + round) return 2;
    }
  }
  std::printf("PE %d of %d by %s\n", environment->pe, environment->n_pes, environment->launcher.c_str());
  return 0;
}
