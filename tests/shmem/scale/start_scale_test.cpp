// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What the start of one PE takes of memory, connections and time in jobs of up to 4096 PEs, each on a machine of its
// own.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "shmem/core/pe.hpp"
#include "support/results.hpp"
#include "tests/shmem/scale/counted_memory.hpp"
#include "tests/shmem/scale/simulated_job.hpp"

namespace gdrkit::shmem_impl::tests {
namespace {

using gdrkit::tests::succeeded;

constexpr int sizes[] = {64, 512, 4096};

struct Measured {
  int n_pes = 0;
  std::int64_t live_bytes = 0;     ///< held by a PE that has started
  std::int64_t peak_bytes = 0;     ///< at most, while it started
  std::uint64_t shared_bytes = 0;  ///< address space of the memory that the PEs of a machine share
  std::uint64_t team_bytes = 0;    ///< of its GPU, for its teams
  std::size_t connections = 0;     ///< after three barriers
  std::uint64_t messages = 0;
  double seconds = 0;
};

std::uint64_t mapped_bytes_of(const std::string& name) {
  std::uint64_t total = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) == std::string::npos) continue;
    const std::size_t dash = line.find('-');
    total += std::stoull(line.substr(dash + 1), nullptr, 16) - std::stoull(line, nullptr, 16);
  }
  return total;
}

Measured measure(int n_pes) {
  Measured measured;
  measured.n_pes = n_pes;
  SimulatedJob job(n_pes);
  core::PeOptions options;
  options.n_pes = n_pes;
  options.pe = 0;
  options.limit = std::chrono::seconds(60);
  options.heap_bytes = std::uint64_t{1} << 20;
  options.heap_max_bytes = std::uint64_t{1} << 30;
  options.is_p2p_disabled = true;
  options.ucx_calls = &job.ucx_calls();
  options.remote_silence = std::chrono::hours(1);
  options.allgather = &SimulatedJob::allgather;
  const std::int64_t before = CountedMemory::live_bytes.load();
  CountedMemory::begin_peak();
  const auto begin = std::chrono::steady_clock::now();
  auto pe = core::Pe::start(options);
  EXPECT_TRUE(pe) << pe.error().text();
  if (!pe) return measured;
  measured.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measured.live_bytes = CountedMemory::live_bytes.load() - before;
  measured.peak_bytes = CountedMemory::peak_bytes.load() - before;
  measured.shared_bytes = mapped_bytes_of("memfd:gdrkit-shmem");
  measured.team_bytes = (*pe)->connections().team_memory().size_bytes();
  for (int barrier = 0; barrier < 3; ++barrier) EXPECT_TRUE(succeeded((*pe)->barrier_all()));
  measured.connections = job.connections();
  measured.messages = job.messages();
  EXPECT_TRUE(succeeded((*pe)->finalize()));
  return measured;
}

/// Bytes for each further PE, from the first job to the second.
double slope(const Measured& small, const Measured& large, std::int64_t Measured::*bytes) {
  return static_cast<double>(large.*bytes - small.*bytes) / (large.n_pes - small.n_pes);
}

TEST(StartScale, MemoryIsLinearAndConnectionsAreFew) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  (void)measure(2);  // what a process allocates once
  std::vector<Measured> all;
  std::printf("%6s %14s %14s %14s %14s %12s %9s %8s\n", "PEs", "held, bytes", "peak, bytes", "shared, bytes",
              "teams, bytes", "connections", "messages", "seconds");
  for (const int n_pes : sizes) {
    const Measured one = measure(n_pes);
    std::printf("%6d %14lld %14lld %14llu %14llu %12zu %9llu %8.3f\n", one.n_pes,
                static_cast<long long>(one.live_bytes), static_cast<long long>(one.peak_bytes),
                static_cast<unsigned long long>(one.shared_bytes), static_cast<unsigned long long>(one.team_bytes),
                one.connections, static_cast<unsigned long long>(one.messages), one.seconds);
    all.push_back(one);
    // An allreduce sends three messages each to distances of 1, 4, 16 and so on. One more PE receives the heartbeats.
    const auto rounds = (static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(n_pes - 1))) + 1) / 2;
    EXPECT_LE(one.connections, 3 * rounds + 1) << n_pes;
    EXPECT_GT(one.connections, 3 * (rounds - 1)) << n_pes << ": it has connected to the others";
    EXPECT_EQ(one.shared_bytes, all.front().shared_bytes) << "a machine shares memory for its own PEs alone";
    EXPECT_LE(one.team_bytes, all.front().team_bytes + static_cast<std::uint64_t>(n_pes) * 2048);
  }
  for (const auto bytes : {&Measured::live_bytes, &Measured::peak_bytes}) {
    const double first = slope(all[0], all[1], bytes);
    const double second = slope(all[1], all[2], bytes);
    EXPECT_LE(second, 1.25 * first) << "grows faster than the job";
    EXPECT_LE(second, 6'000) << "bytes for each PE of the job";
  }
}

}  // namespace
}  // namespace gdrkit::shmem_impl::tests
