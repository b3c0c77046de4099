// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/device.hpp"
#include "transfer/shmem/check/check_list.hpp"
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{2} << 20;

platform::Allocation allocate(Checker& checker, platform::AllocationKind kind) {
  auto allocated = checker.session().device().allocate(kind, buffer_bytes);
  if (!allocated)
    throw cli::Failure(cli::ExitCode::failed, cli::format("gdrkit shmem check: %s", allocated.error().text()));
  return std::move(*allocated);
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

}  // namespace

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

}  // namespace gdrkit::transfer::shmem
