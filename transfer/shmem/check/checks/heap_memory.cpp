// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <memory>

#include "cli/interface/demand.hpp"
#include "gdrkit/detail/shmem_private.h"
#include "platform/device/device.hpp"
#include "transfer/shmem/check/checker.hpp"

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

constexpr std::size_t buffer_bytes = std::size_t{2} << 20;

platform::Allocation allocate(Checker& checker, platform::AllocationKind kind) {
  return cli::demand(checker.session().device().allocate(kind, buffer_bytes), "gdrkit shmem check: ");
}

/// Puts to the next PE through the registered address, seen at the address that the program has had all along.
void put_and_compare(Checker& checker, std::uint8_t* symmetric, const std::uint8_t* own) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{1000}, buffer_bytes}) {
    const auto seed = static_cast<std::uint64_t>(checker.pe()) + size;
    const auto before = static_cast<std::uint64_t>(checker.neighbour(-1)) + size;
    const auto mine = pattern(size, seed);
    checker.fill(symmetric, 0, buffer_bytes);
    checker.barrier();
    checker.succeeds(gdrkit_shmem_put(symmetric, mine.data(), size, checker.neighbour(1)),
                     "put into a registered buffer");
    checker.barrier();
    std::vector<std::uint8_t> received(size);
    checker.read(received.data(), own, size);
    checker.compare(&received, pattern(size, before), cli::format("put of %zu bytes into a registered buffer", size));
    std::vector<std::uint8_t> fetched(size);
    checker.succeeds(gdrkit_shmem_get(fetched.data(), symmetric, size, checker.neighbour(1)),
                     "get from a registered buffer");
    checker.compare(&fetched, mine, cli::format("get of %zu bytes from a registered buffer", size));
    checker.barrier();
  }
}

gdrkit_shmem_device_state filled{};
int fills = 0;

int fill(const gdrkit_shmem_device_state* state) {
  filled = *state;
  ++fills;
  return 0;
}

/// The state for GPU kernels, now and after a change of the limit. Without a GPU there is none.
void check_state(Checker& checker) {
  constexpr std::uint32_t limit_ms = 60'000;
  (void)checker.succeeds(gdrkit_shmem_register_state(&fill), "register_state");
  (void)checker.succeeds(gdrkit_shmem_set_timeout(limit_ms), "set_timeout");
  (void)checker.succeeds(gdrkit_shmem_unregister_state(&fill), "unregister_state");
  (void)checker.succeeds(gdrkit_shmem_set_timeout(limit_ms), "set_timeout");
  const bool is_emulated = checker.session().choice().is_emulated;
  checker.demand(fills == (is_emulated ? 0 : 2), cli::format("a registered state was filled in %d times", fills));
  if (is_emulated) return;
  checker.demand(filled.pe == checker.pe() && filled.n_pes == checker.n_pes(), "the state is that of another PE");
  checker.demand(filled.limit_ns == std::uint64_t{limit_ms} * 1'000'000, "the state has another limit");
}

}  // namespace

void check_allocation(Checker& checker) {
  check_sizes(checker);
  check_zeroed(checker);
}

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

void check_registration(Checker& checker) {
  const platform::Allocation memory = allocate(checker, platform::AllocationKind::vmm_exportable);
  auto* const own = reinterpret_cast<std::uint8_t*>(memory.address());
  void* registered = nullptr;
  if (!checker.succeeds(gdrkit_shmem_buffer_register_symmetric(own, buffer_bytes, &registered),
                        "buffer_register_symmetric")) {
    return;
  }
  auto* const symmetric = static_cast<std::uint8_t*>(registered);
  put_and_compare(checker, symmetric, own);
  checker.succeeds(gdrkit_shmem_buffer_unregister_symmetric(symmetric), "buffer_unregister_symmetric");
}

void check_identity(Checker& checker) {
  const gdrkit_shmem_info info = checker.session().info();
  checker.demand(gdrkit_shmem_my_pe() == checker.pe(), "my_pe differs from get_info");
  checker.demand(gdrkit_shmem_n_pes() == checker.n_pes(), "n_pes differs from get_info");
  checker.demand(info.node_pes >= 1 && info.node_pes <= info.n_pes, cli::format("node_pes is %d", info.node_pes));
  checker.demand(info.heap_bytes != 0 && info.heap_bytes <= info.heap_max_bytes, "heap_bytes exceeds heap_max_bytes");
  gdrkit_shmem_pe_t own{};
  if (checker.succeeds(gdrkit_shmem_current(&own), "current")) (void)checker.succeeds(gdrkit_shmem_use(own), "use");
  const SymmetricMemory memory(checker, 1);
  void* own_copy = nullptr;
  (void)checker.succeeds(gdrkit_shmem_ptr(memory.data(), checker.pe(), &own_copy), "ptr of this PE's copy");
  checker.demand(own_copy == memory.data(), "ptr with this PE does not return this PE's own address");
  for (int pe = 0; pe < checker.n_pes(); ++pe) {
    // PEs that share a GPU have separate heaps.
    void* other = nullptr;
    const int result = gdrkit_shmem_ptr(memory.data(), pe, &other);
    checker.demand(result == 0 || result == -EOPNOTSUPP, cli::format("ptr of PE %d returns %d", pe, result));
    checker.demand(pe == checker.pe() || other != memory.data(), cli::format("ptr of PE %d is this PE's copy", pe));
  }
  check_state(checker);
}

}  // namespace gdrkit::transfer::shmem
