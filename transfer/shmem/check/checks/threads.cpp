// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <thread>

#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t part_bytes = 100'000;
constexpr std::size_t sizes[] = {8, 200, 1024, 5000, 40'000};

/// One thread: puts to its part at the next PE, reads it back, and compares.
void run_thread(Checker& checker, std::uint8_t* part, std::uint64_t seed, int rounds) {
  const int pe = checker.neighbour(1);
  std::vector<std::uint8_t> got;
  for (int round = 0; round < rounds; ++round) {
    const std::size_t size = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
    std::uint8_t* const target = part + static_cast<std::size_t>(round) * 64 % (part_bytes - size);
    const std::vector<std::uint8_t> sent = pattern(size, seed + static_cast<std::uint64_t>(round));
    const std::string what = cli::format("%zu bytes to PE %d, round %d", size, pe, round);
    (void)checker.succeeds(round % 2 == 0 ? gdrkit_shmem_put(target, sent.data(), size, pe)
                                          : gdrkit_shmem_put_nbi(target, sent.data(), size, pe),
                           "put of " + what);
    (void)checker.succeeds(gdrkit_shmem_quiet(), "quiet");
    got.assign(size, 0);
    (void)checker.succeeds(gdrkit_shmem_get(got.data(), target, size, pe), "get of " + what);
    checker.compare(&got, sent, "put and get of " + what);
  }
}

}  // namespace

void check_threads(Checker& checker) {
  constexpr std::size_t thread_count = 4;
  const SymmetricMemory memory(checker, thread_count * part_bytes);
  const int rounds = std::max(checker.options().rounds / 10, 1);
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < thread_count; ++number) {
    threads.emplace_back([&, number] {
      const std::uint64_t seed = (static_cast<std::uint64_t>(checker.pe()) << 40) + (number << 32);
      run_thread(checker, memory.data() + number * part_bytes, seed, rounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
