// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"
#include "transfer/shmem/check/local_region.hpp"
#include "transfer/shmem/check/transfer_plan.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// To add a get, add a row.
struct GetOperation {
  const char* name;
  int (*call)(void* target, const void* source, std::size_t size_bytes, int pe);
};
constexpr GetOperation operations[] = {
    {"get", &gdrkit_shmem_get},
    {"get_nbi", &gdrkit_shmem_get_nbi},
    {"get_on_stream", [](void* target, const void* source, std::size_t size_bytes, int pe) {
       return gdrkit_shmem_get_on_stream(target, source, size_bytes, pe, nullptr);
     }}};

constexpr std::uint8_t filler = 0xa5;

std::uint64_t seed_of(int pe) { return (static_cast<std::uint64_t>(pe) + 1) << 40; }

/// Every PE gets from the one `distance` further on.
void get_all(Checker& checker, const TransferPlan& plan, const SymmetricMemory& remote, LocalRegion* local,
             const GetOperation& operation, LocalKind kind, int distance) {
  const int source_pe = checker.neighbour(distance);
  local->assign(std::vector<std::uint8_t>(plan.region_bytes, filler));
  for (const PlannedTransfer& transfer : plan.transfers) {
    const int code = operation.call(local->data() + transfer.local_offset, remote.data() + transfer.remote_offset,
                                    transfer.size_bytes, source_pe);
    (void)checker.succeeds(code, cli::format("%s of %zu bytes from PE %d to %s memory", operation.name,
                                             transfer.size_bytes, source_pe, local_name(kind)));
  }
  (void)checker.succeeds(gdrkit_shmem_quiet(), "quiet");
  (void)checker.succeeds(gdrkit_shmem_stream_synchronize(nullptr), "stream_synchronize");
  std::vector<std::uint8_t> got = local->bytes();
  checker.spoil(&got);
  if (const auto wrong =
          first_difference(plan, Side::local, got, region_image(plan, Side::local, seed_of(source_pe), filler))) {
    checker.fail(cli::format("%s from PE %d to %s memory, ", operation.name, source_pe, local_name(kind)) + *wrong);
  }
}

}  // namespace

void check_gets(Checker& checker) {
  const TransferPlan plan = plan_transfers(checker.options().largest_bytes);
  const SymmetricMemory remote(checker, plan.region_bytes);
  const std::vector<std::uint8_t> own = region_image(plan, Side::remote, seed_of(checker.pe()), 0);
  checker.write(remote.data(), own.data(), own.size());
  checker.barrier();
  for (const LocalKind kind : all_local_kinds) {
    LocalRegion local(checker, kind, plan.region_bytes);
    for (const GetOperation& operation : operations) {
      for (int distance = 0; distance < checker.n_pes(); ++distance) {
        get_all(checker, plan, remote, &local, operation, kind, distance);
      }
    }
  }
  checker.barrier();
  // Reading changed nothing.
  std::vector<std::uint8_t> after(own.size());
  checker.read(after.data(), remote.data(), after.size());
  checker.demand(after == own, "the memory that the others got from has changed");
}

}  // namespace gdrkit::transfer::shmem
