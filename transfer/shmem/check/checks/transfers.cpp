// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/checker.hpp"
#include "transfer/shmem/check/transfer_plan.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// One call, with all that any put takes.
struct Call {
  void* target;
  const void* source;
  std::size_t size_bytes;
  std::uint64_t* signal;
  std::uint64_t signal_value;
  int pe;
};

/// To add a put, add a row.
struct PutOperation {
  const char* name;
  int (*call)(const Call& call);
  bool has_signal;
};
constexpr PutOperation put_operations[] = {
    {"put", [](const Call& c) { return gdrkit_shmem_put(c.target, c.source, c.size_bytes, c.pe); }, false},
    {"put_nbi", [](const Call& c) { return gdrkit_shmem_put_nbi(c.target, c.source, c.size_bytes, c.pe); }, false},
    {"put_signal",
     [](const Call& c) {
       return gdrkit_shmem_put_signal(c.target, c.source, c.size_bytes, c.signal, c.signal_value,
                                      GDRKIT_SHMEM_SIGNAL_SET, c.pe);
     },
     true},
    {"put_signal_nbi",
     [](const Call& c) {
       return gdrkit_shmem_put_signal_nbi(c.target, c.source, c.size_bytes, c.signal, c.signal_value,
                                          GDRKIT_SHMEM_SIGNAL_SET, c.pe);
     },
     true},
    {"put_on_stream",
     [](const Call& c) { return gdrkit_shmem_put_on_stream(c.target, c.source, c.size_bytes, c.pe, nullptr); }, false},
    {"put_signal_on_stream",
     [](const Call& c) {
       return gdrkit_shmem_put_signal_on_stream(c.target, c.source, c.size_bytes, c.signal, c.signal_value,
                                                GDRKIT_SHMEM_SIGNAL_SET, c.pe, nullptr);
     },
     true},
};

constexpr std::uint8_t filler = 0x5a;

struct Places {
  const TransferPlan& plan;
  LocalRegion& local;
  const SymmetricMemory& remote;
  const SymmetricMemory& signal;
};

std::uint64_t seed_of(int pe, std::size_t operation) {
  return (static_cast<std::uint64_t>(pe) << 32) + (static_cast<std::uint64_t>(operation) << 20);
}

/// Every PE puts to the one `distance` further on.
void put_all(Checker& checker, const Places& places, std::size_t number, LocalKind kind, int distance) {
  const PutOperation& operation = put_operations[number];
  const TransferPlan& plan = places.plan;
  const int target_pe = checker.neighbour(distance);
  const int source_pe = checker.neighbour(-distance);
  places.local.assign(region_image(plan, Side::local, seed_of(checker.pe(), number), 0));
  checker.fill(places.remote.data(), filler, plan.region_bytes);
  checker.fill(places.signal.data(), 0, sizeof(std::uint64_t));
  checker.barrier();
  std::uint64_t sent = 0;
  for (const PlannedTransfer& transfer : plan.transfers) {
    const int code =
        operation.call({places.remote.data() + transfer.remote_offset, places.local.data() + transfer.local_offset,
                        transfer.size_bytes, places.signal.as<std::uint64_t>(), ++sent, target_pe});
    (void)checker.succeeds(code, cli::format("%s of %zu bytes from %s memory to PE %d", operation.name,
                                             transfer.size_bytes, local_name(kind), target_pe));
  }
  (void)checker.succeeds(gdrkit_shmem_stream_synchronize(nullptr), "stream_synchronize");
  checker.barrier();
  std::vector<std::uint8_t> got(plan.region_bytes);
  checker.read(got.data(), places.remote.data(), got.size());
  checker.spoil(&got);
  const std::string what = cli::format("%s by PE %d from its %s memory, ", operation.name, source_pe, local_name(kind));
  if (const auto wrong = first_difference(plan, Side::remote, got,
                                          region_image(plan, Side::remote, seed_of(source_pe, number), filler))) {
    checker.fail(what + *wrong);
  }
  if (operation.has_signal) {
    const auto signal = checker.read_value(places.signal.as<std::uint64_t>());
    checker.demand(signal == sent,
                   what + cli::format("the signal is %llu after %llu puts", static_cast<unsigned long long>(signal),
                                      static_cast<unsigned long long>(sent)));
  }
}

/// To add a get, add a row.
struct GetOperation {
  const char* name;
  int (*call)(void* target, const void* source, std::size_t size_bytes, int pe);
};
constexpr GetOperation get_operations[] = {
    {"get", &gdrkit_shmem_get},
    {"get_nbi", &gdrkit_shmem_get_nbi},
    {"get_on_stream", [](void* target, const void* source, std::size_t size_bytes, int pe) {
       return gdrkit_shmem_get_on_stream(target, source, size_bytes, pe, nullptr);
     }}};

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

void check_puts(Checker& checker) {
  const TransferPlan plan = plan_transfers(checker.options().largest_bytes);
  const SymmetricMemory remote(checker, plan.region_bytes);
  const SymmetricMemory signal(checker, sizeof(std::uint64_t));
  for (const LocalKind kind : all_local_kinds) {
    LocalRegion local(checker, kind, plan.region_bytes);
    for (std::size_t number = 0; number < std::size(put_operations); ++number) {
      for (int distance = 0; distance < checker.n_pes(); ++distance) {
        put_all(checker, {plan, local, remote, signal}, number, kind, distance);
      }
    }
  }
}

void check_gets(Checker& checker) {
  const TransferPlan plan = plan_transfers(checker.options().largest_bytes);
  const SymmetricMemory remote(checker, plan.region_bytes);
  const std::vector<std::uint8_t> own = region_image(plan, Side::remote, seed_of(checker.pe()), 0);
  checker.write(remote.data(), own.data(), own.size());
  checker.barrier();
  for (const LocalKind kind : all_local_kinds) {
    LocalRegion local(checker, kind, plan.region_bytes);
    for (const GetOperation& operation : get_operations) {
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
