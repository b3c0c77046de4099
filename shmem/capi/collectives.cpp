// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The C API of teams and collectives.
#include "platform/device/device.hpp"
#include "shmem/capi/calls.hpp"

using gdrkit::shmem_impl::capi::refuse_null;
using gdrkit::shmem_impl::capi::value_with_pe;
using gdrkit::shmem_impl::capi::with_pe;
using gdrkit::shmem_impl::collective::CollectiveCall;
using gdrkit::shmem_impl::collective::CollectiveOperation;
using gdrkit::shmem_impl::core::Pe;

namespace base = gdrkit::base;

namespace {

gdrkit::platform::Stream stream_of(void* stream) noexcept { return {reinterpret_cast<std::uint64_t>(stream)}; }

int run(const CollectiveCall& call) noexcept {
  return with_pe([&](Pe& self) { return self.collectives().run(call); });
}
int launch(const CollectiveCall& call, void* stream) noexcept {
  return with_pe([&](Pe& self) { return self.collectives().launch(call, stream_of(stream)); });
}

/// An overflowing size becomes a size that the range check rejects.
CollectiveCall reduction_call(CollectiveOperation operation, gdrkit_shmem_team_t team, gdrkit_shmem_type type,
                              gdrkit_shmem_reduction reduction, void* target, const void* source,
                              size_t count) noexcept {
  const std::uint64_t element_bytes = static_cast<unsigned>(type) & 15U;
  const bool fits = element_bytes == 0 || count <= SIZE_MAX / element_bytes;
  const std::uint64_t size = fits ? count * element_bytes : SIZE_MAX / 8 * 8;
  return {operation, team, target, source, size, 0, type, reduction};
}

}  // namespace

int gdrkit_shmem_team_my_pe(gdrkit_shmem_team_t team) {
  return with_pe([=](Pe& self) { return self.collectives().my_pe(team); });
}
int gdrkit_shmem_team_n_pes(gdrkit_shmem_team_t team) {
  return with_pe([=](Pe& self) { return self.collectives().n_pes(team); });
}
int gdrkit_shmem_team_translate_pe(gdrkit_shmem_team_t team, int pe, gdrkit_shmem_team_t other) {
  return with_pe([=](Pe& self) { return self.collectives().translate(team, pe, other); });
}

int gdrkit_shmem_team_split_strided(gdrkit_shmem_team_t parent, int start, int stride, int size,
                                    gdrkit_shmem_team_t* team) {
  return value_with_pe(team, "the new team",
                       [=](Pe& self) { return self.collectives().split_strided(parent, start, stride, size); });
}
int gdrkit_shmem_team_split_2d(gdrkit_shmem_team_t parent, int x_range, gdrkit_shmem_team_t* x_team,
                               gdrkit_shmem_team_t* y_team) {
  return with_pe([=](Pe& self) -> base::Status {
    if (x_team == nullptr || y_team == nullptr) return refuse_null("a new team");
    auto made = self.collectives().split_2d(parent, x_range);
    if (!made) return base::pass(made);
    *x_team = made->x;
    *y_team = made->y;
    return {};
  });
}
int gdrkit_shmem_team_get_unique_id(uint64_t* id) {
  return value_with_pe(id, "the unique id", [](Pe& self) { return self.collectives().get_unique_id(); });
}
int gdrkit_shmem_team_init(uint64_t id, int n_pes, int pe, gdrkit_shmem_team_t* team) {
  return value_with_pe(team, "the new team", [=](Pe& self) { return self.collectives().init_team(id, n_pes, pe); });
}
int gdrkit_shmem_team_destroy(gdrkit_shmem_team_t team) {
  return with_pe([=](Pe& self) { return self.collectives().destroy(team); });
}

int gdrkit_shmem_team_sync(gdrkit_shmem_team_t team) { return run({CollectiveOperation::sync, team}); }
int gdrkit_shmem_team_barrier(gdrkit_shmem_team_t team) { return run({CollectiveOperation::barrier, team}); }
int gdrkit_shmem_sync_on_stream(gdrkit_shmem_team_t team, void* stream) {
  return launch({CollectiveOperation::sync, team}, stream);
}
int gdrkit_shmem_barrier_on_stream(gdrkit_shmem_team_t team, void* stream) {
  return launch({CollectiveOperation::barrier, team}, stream);
}
int gdrkit_shmem_sync_all_on_stream(void* stream) {
  return launch({CollectiveOperation::sync, GDRKIT_SHMEM_TEAM_WORLD}, stream);
}
int gdrkit_shmem_barrier_all_on_stream(void* stream) {
  return launch({CollectiveOperation::barrier, GDRKIT_SHMEM_TEAM_WORLD}, stream);
}

int gdrkit_shmem_broadcast(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes, int root) {
  return run({CollectiveOperation::broadcast, team, target, source, size_bytes, root});
}
int gdrkit_shmem_broadcast_on_stream(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes,
                                     int root, void* stream) {
  return launch({CollectiveOperation::broadcast, team, target, source, size_bytes, root}, stream);
}

#define GDRKIT_SHMEM_EXCHANGE(operation)                                                                        \
  int gdrkit_shmem_##operation(gdrkit_shmem_team_t team, void* target, const void* source, size_t size_bytes) { \
    return run({CollectiveOperation::operation, team, target, source, size_bytes});                             \
  }                                                                                                             \
  int gdrkit_shmem_##operation##_on_stream(gdrkit_shmem_team_t team, void* target, const void* source,          \
                                           size_t size_bytes, void* stream) {                                   \
    return launch({CollectiveOperation::operation, team, target, source, size_bytes}, stream);                  \
  }
GDRKIT_SHMEM_EXCHANGE(fcollect)
GDRKIT_SHMEM_EXCHANGE(alltoall)
#undef GDRKIT_SHMEM_EXCHANGE

#define GDRKIT_SHMEM_REDUCTION(operation)                                                                          \
  int gdrkit_shmem_##operation(gdrkit_shmem_team_t team, gdrkit_shmem_type type, gdrkit_shmem_reduction reduction, \
                               void* target, const void* source, size_t count) {                                   \
    return run(reduction_call(CollectiveOperation::operation, team, type, reduction, target, source, count));      \
  }                                                                                                                \
  int gdrkit_shmem_##operation##_on_stream(gdrkit_shmem_team_t team, gdrkit_shmem_type type,                       \
                                           gdrkit_shmem_reduction reduction, void* target, const void* source,     \
                                           size_t count, void* stream) {                                           \
    return launch(reduction_call(CollectiveOperation::operation, team, type, reduction, target, source, count),    \
                  stream);                                                                                         \
  }
GDRKIT_SHMEM_REDUCTION(reduce)
GDRKIT_SHMEM_REDUCTION(reducescatter)
#undef GDRKIT_SHMEM_REDUCTION
