// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A CPU thread polls a flag in device memory, and reads the data after the flag. Here the driver's copies write
// the data and the flag; in an application a GPU kernel writes them in this order.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <gdrkit/gdrkit.hpp>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t data_at = 0;
constexpr std::size_t flag_at = 32 * 1024;  // naturally aligned; in another cache line than the data

/// Polls until the flag equals `expected`. Returns false after five seconds.
bool wait_for_flag(const gdrkit::Mapping& map, std::uint32_t expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (map.load_flag<std::uint32_t>(flag_at) != expected) {  // every load reads device memory
    if (std::chrono::steady_clock::now() > deadline) return false;
  }
  return true;
}

}  // namespace

int main() try {
  constexpr std::uint32_t rounds = 100;
  gdrkit::Context context;
  auto buffer = context.allocate(64 * 1024);
  auto map = context.map(buffer);
  map.store_flag<std::uint64_t>(flag_at, 0);  // the flag and the acknowledgement; the initial contents are undefined

  std::uint32_t received = 0;
  std::jthread consumer([&] {
    std::vector<std::uint32_t> data(256);
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      if (!wait_for_flag(map, round)) return;
      map.read(data_at, data);  // never older than the flag
      if (data != std::vector<std::uint32_t>(data.size(), round)) return;
      received = round;
      map.store_flag<std::uint32_t>(flag_at + 4, round);  // acknowledges the round
    }
  });
  std::vector<std::uint32_t> acknowledged(1);
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    buffer.copy_from_host(data_at, std::vector<std::uint32_t>(256, round));
    buffer.copy_from_host(flag_at, std::vector<std::uint32_t>{round});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    do {
      buffer.copy_to_host(flag_at + 4, acknowledged);
    } while (acknowledged[0] != round && std::chrono::steady_clock::now() < deadline);
    if (acknowledged[0] != round) break;
  }
  consumer.join();
  std::printf("%s: the CPU saw %u of %u flags, each with its data\n", context.backend_name(), received, rounds);
  return received == rounds ? 0 : 1;
} catch (const gdrkit::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
