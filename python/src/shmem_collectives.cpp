// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Words (waits, tests, atomic operations), order, teams and collectives.
#include <gdrkit/shmem.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include "shmem_local.hpp"

namespace nb = nanobind;

namespace gdrkit_python {
namespace {

void wait_until(std::uintptr_t address, int word, int comparison, std::uint64_t value, Stream stream) {
  const auto type = static_cast<gdrkit_shmem_word>(word);
  const auto how = static_cast<gdrkit_shmem_comparison>(comparison);
  call_shmem([&] {
    return stream ? gdrkit_shmem_wait_until_on_stream(at(address), type, how, value, at(*stream))
                  : gdrkit_shmem_wait_until(at(address), type, how, value);
  });
}

bool test(std::uintptr_t address, int word, int comparison, std::uint64_t value) {
  return check_shmem(gdrkit_shmem_test(at(address), static_cast<gdrkit_shmem_word>(word),
                                       static_cast<gdrkit_shmem_comparison>(comparison), value)) != 0;
}

std::uint64_t atomic(std::uintptr_t target, std::size_t size_bytes, int operation, std::uint64_t operand,
                     std::uint64_t compare, int pe) {
  std::uint64_t before = 0;
  call_shmem([&] {
    return gdrkit_shmem_atomic(at(target), size_bytes, static_cast<gdrkit_shmem_atomic_operation>(operation), operand,
                               compare, &before, pe);
  });
  return before;
}

int split_strided(int parent, int start, int stride, int size) {
  gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_INVALID;
  call_shmem([&] { return gdrkit_shmem_team_split_strided(parent, start, stride, size, &team); });
  return team;
}

std::uint64_t team_unique_id() {
  std::uint64_t id = 0;
  call_shmem([&] { return gdrkit_shmem_team_get_unique_id(&id); });
  return id;
}

int team_init(std::uint64_t id, int n_pes, int pe) {
  gdrkit_shmem_team_t team = GDRKIT_SHMEM_TEAM_INVALID;
  call_shmem([&] { return gdrkit_shmem_team_init(id, n_pes, pe, &team); });
  return team;
}

nb::tuple split_2d(int parent, int x_range) {
  gdrkit_shmem_team_t row = GDRKIT_SHMEM_TEAM_INVALID, column = GDRKIT_SHMEM_TEAM_INVALID;
  call_shmem([&] { return gdrkit_shmem_team_split_2d(parent, x_range, &row, &column); });
  return nb::make_tuple(row, column);
}

void broadcast(int team, std::uintptr_t target, std::uintptr_t source, std::size_t size_bytes, int root,
               Stream stream) {
  call_shmem([&] {
    return stream ? gdrkit_shmem_broadcast_on_stream(team, at(target), at(source), size_bytes, root, at(*stream))
                  : gdrkit_shmem_broadcast(team, at(target), at(source), size_bytes, root);
  });
}

/// fcollect and alltoall.
template <auto Call, auto CallOnStream>
void exchange(int team, std::uintptr_t target, std::uintptr_t source, std::size_t size_bytes, Stream stream) {
  call_shmem([&] {
    return stream ? CallOnStream(team, at(target), at(source), size_bytes, at(*stream))
                  : Call(team, at(target), at(source), size_bytes);
  });
}

/// reduce and reducescatter.
template <auto Call, auto CallOnStream>
void reduce(int team, int type, int reduction, std::uintptr_t target, std::uintptr_t source, std::size_t count,
            Stream stream) {
  const auto element = static_cast<gdrkit_shmem_type>(type);
  const auto how = static_cast<gdrkit_shmem_reduction>(reduction);
  call_shmem([&] {
    return stream ? CallOnStream(team, element, how, at(target), at(source), count, at(*stream))
                  : Call(team, element, how, at(target), at(source), count);
  });
}

/// Synchronizes all PEs of a team, or its streams.
template <auto Call, auto CallOnStream>
void synchronize_team(int team, Stream stream) {
  call_shmem([&] { return stream ? CallOnStream(team, at(*stream)) : Call(team); });
}

}  // namespace

void bind_words(nb::module_& module) {
  module.def("wait_until", wait_until, nb::arg("address"), nb::arg("word"), nb::arg("comparison"), nb::arg("value"),
             nb::arg("stream").none());
  module.def("test", test);
  module.def("atomic", atomic);
  module.def("fence", [] { call_shmem(gdrkit_shmem_fence); });
  module.def(
      "quiet",
      [](Stream stream) {
        call_shmem([&] { return stream ? gdrkit_shmem_quiet_on_stream(at(*stream)) : gdrkit_shmem_quiet(); });
      },
      nb::arg("stream").none());
}

void bind_collectives(nb::module_& module) {
  module.def("sync_all", [] { call_shmem(gdrkit_shmem_sync_all); });
  module.def("barrier_all", [] { call_shmem(gdrkit_shmem_barrier_all); });
  module.def("team_my_pe", [](int team) { return check_shmem(gdrkit_shmem_team_my_pe(team)); });
  module.def("team_n_pes", [](int team) { return check_shmem(gdrkit_shmem_team_n_pes(team)); });
  module.def("team_translate_pe",
             [](int team, int pe, int other) { return check_shmem(gdrkit_shmem_team_translate_pe(team, pe, other)); });
  module.def("team_split_strided", split_strided);
  module.def("team_unique_id", team_unique_id);
  module.def("team_init", team_init);
  module.def("team_split_2d", split_2d, nb::sig("def team_split_2d(parent: int, x_range: int, /) -> tuple[int, int]"));
  module.def("team_destroy", [](int team) { call_shmem([&] { return gdrkit_shmem_team_destroy(team); }); });
  module.def("team_sync", synchronize_team<gdrkit_shmem_team_sync, gdrkit_shmem_sync_on_stream>, nb::arg("team"),
             nb::arg("stream").none());
  module.def("team_barrier", synchronize_team<gdrkit_shmem_team_barrier, gdrkit_shmem_barrier_on_stream>,
             nb::arg("team"), nb::arg("stream").none());
  module.def("broadcast", broadcast, nb::arg("team"), nb::arg("target"), nb::arg("source"), nb::arg("size"),
             nb::arg("root"), nb::arg("stream").none());
  module.def("fcollect", exchange<gdrkit_shmem_fcollect, gdrkit_shmem_fcollect_on_stream>, nb::arg("team"),
             nb::arg("target"), nb::arg("source"), nb::arg("size"), nb::arg("stream").none());
  module.def("alltoall", exchange<gdrkit_shmem_alltoall, gdrkit_shmem_alltoall_on_stream>, nb::arg("team"),
             nb::arg("target"), nb::arg("source"), nb::arg("size"), nb::arg("stream").none());
  module.def("reduce", reduce<gdrkit_shmem_reduce, gdrkit_shmem_reduce_on_stream>, nb::arg("team"), nb::arg("type"),
             nb::arg("reduction"), nb::arg("target"), nb::arg("source"), nb::arg("count"), nb::arg("stream").none());
  module.def("reducescatter", reduce<gdrkit_shmem_reducescatter, gdrkit_shmem_reducescatter_on_stream>, nb::arg("team"),
             nb::arg("type"), nb::arg("reduction"), nb::arg("target"), nb::arg("source"), nb::arg("count"),
             nb::arg("stream").none());
}

}  // namespace gdrkit_python
