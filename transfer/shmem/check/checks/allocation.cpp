// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// All PEs must have `address` at the same distance from their heaps' beginnings.
void compare_offsets(Checker& checker, const SymmetricMemory& places, const void* address, const std::string& what) {
  const std::uint64_t own = reinterpret_cast<std::uint64_t>(address) - checker.session().info().heap_address;
  checker.write(places.data(), &own, sizeof own);
  checker.barrier();
  for (int pe = 0; pe < checker.n_pes(); ++pe) {
    std::uint64_t other = 0;
    if (!checker.succeeds(gdrkit_shmem_get(&other, places.data(), sizeof other, pe), "get of an offset")) continue;
    checker.demand(other == own,
                   what + cli::format(": offset %llu here, %llu on PE %d", static_cast<unsigned long long>(own),
                                      static_cast<unsigned long long>(other), pe));
  }
  checker.barrier();
}

void check_sizes(Checker& checker) {
  const SymmetricMemory places(checker, sizeof(std::uint64_t));
  for (const std::size_t size : {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{257}, mib + 1}) {
    void* address = nullptr;
    const std::string what = cli::format("malloc of %zu bytes", size);
    if (!checker.succeeds(gdrkit_shmem_malloc(size, &address), what)) continue;
    checker.demand(reinterpret_cast<std::uint64_t>(address) % 256 == 0,
                   what + " returned an address that is not aligned to 256 bytes");
    compare_offsets(checker, places, address, what);
    (void)checker.succeeds(gdrkit_shmem_free(address), "free");
  }
  for (std::size_t alignment = 1; alignment <= 2 * mib; alignment *= 2) {
    void* address = nullptr;
    const std::string what = cli::format("align to %zu", alignment);
    if (!checker.succeeds(gdrkit_shmem_align(alignment, 100, &address), what)) continue;
    checker.demand(reinterpret_cast<std::uint64_t>(address) % alignment == 0,
                   what + " returned an address without this alignment");
    (void)checker.succeeds(gdrkit_shmem_free(address), "free");
  }
}

/// Memory that was used before must be zeroed.
void check_zeroed(Checker& checker) {
  constexpr std::size_t size = 100000;
  for (int turn = 0; turn < 2; ++turn) {
    void* address = nullptr;
    if (!checker.succeeds(gdrkit_shmem_calloc(size / 4, 4, &address), "calloc")) return;
    std::vector<std::uint8_t> bytes(size);
    checker.read(bytes.data(), address, size);
    checker.compare(&bytes, std::vector<std::uint8_t>(size), cli::format("calloc of %zu bytes", size));
    checker.fill(address, 0xee, size);
    (void)checker.succeeds(gdrkit_shmem_free(address), "free");
  }
}

}  // namespace

void check_allocation(Checker& checker) {
  check_sizes(checker);
  check_zeroed(checker);
}

}  // namespace gdrkit::transfer::shmem
