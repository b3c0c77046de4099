// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <memory>

#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t probe_bytes = 100'000;

/// To the neighbour's copy of the object, at `offset`; the other direction is the neighbour's own.
void put_probe(Checker& checker, const SymmetricMemory& object, std::size_t offset, std::uint64_t seed) {
  const std::vector<std::uint8_t> sent = pattern(probe_bytes, seed + static_cast<std::uint64_t>(checker.pe()));
  (void)checker.succeeds(gdrkit_shmem_put(object.data() + offset, sent.data(), sent.size(), checker.neighbour(1)),
                         "put to grown memory");
}

void verify_probe(Checker& checker, const SymmetricMemory& object, std::size_t offset, std::uint64_t seed) {
  std::vector<std::uint8_t> got(probe_bytes);
  checker.read(got.data(), object.data() + offset, got.size());
  const int source = checker.neighbour(-1);
  checker.compare(&got, pattern(probe_bytes, seed + static_cast<std::uint64_t>(source)),
                  cli::format("put by PE %d to grown memory, %zu bytes", source, probe_bytes));
}

}  // namespace

void check_growth(Checker& checker) {
  constexpr std::uint64_t first_seed = 1000;
  constexpr int objects = 4;
  const std::uint64_t before = checker.session().info().heap_bytes;
  // Each object is larger than the rest of the heap, so that each makes it grow.
  const std::size_t object_bytes = static_cast<std::size_t>(before) + mib;
  if (object_bytes * objects > checker.session().info().heap_max_bytes / 2) return;
  std::vector<std::unique_ptr<SymmetricMemory>> grown;
  const std::size_t offsets[] = {0, object_bytes / 2, object_bytes - probe_bytes};
  for (int number = 0; number < objects / 2; ++number) {
    grown.push_back(std::make_unique<SymmetricMemory>(checker, object_bytes));
    for (std::size_t i = 0; i < std::size(offsets); ++i) {
      put_probe(checker, *grown.back(), offsets[i], first_seed * static_cast<std::uint64_t>(number * 10) + i * 100);
    }
  }
  checker.barrier();
  for (std::size_t number = 0; number < grown.size(); ++number) {
    for (std::size_t i = 0; i < std::size(offsets); ++i) {
      verify_probe(checker, *grown[number], offsets[i], first_seed * static_cast<std::uint64_t>(number * 10) + i * 100);
    }
  }
  checker.demand(checker.session().info().heap_bytes > before, "the heap did not grow");
  grown.clear();
  // The freed memory is reused without growth.
  const std::uint64_t largest = checker.session().info().heap_bytes;
  const SymmetricMemory again(checker, object_bytes);
  checker.demand(checker.session().info().heap_bytes == largest, "the heap grew although freed memory was enough");
  put_probe(checker, again, 5, 5);
  checker.barrier();
  verify_probe(checker, again, 5, 5);
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
