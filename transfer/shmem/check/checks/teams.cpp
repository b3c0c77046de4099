// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Teams of all PEs in other orders, of some PEs, of rows and columns: their numbers, and that exactly their PEs
// synchronize.
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr gdrkit_shmem_team_t world = GDRKIT_SHMEM_TEAM_WORLD;
constexpr gdrkit_shmem_team_t invalid = GDRKIT_SHMEM_TEAM_INVALID;

struct Buffers {
  explicit Buffers(Checker& checker)
      : members(checker, static_cast<std::size_t>(checker.n_pes()) * sizeof(int)), own(checker, sizeof(int)) {}
  SymmetricMemory members;
  SymmetricMemory own;
};

/// Its PEs collect their numbers, by the CPU and on a stream.
void check_members(Checker& checker, Buffers& buffers, gdrkit_shmem_team_t team, const std::vector<int>& expected,
                   const std::string& what) {
  const int pe = checker.pe();
  checker.demand(gdrkit_shmem_team_n_pes(team) == static_cast<int>(expected.size()), what + ": wrong number of PEs");
  const int number = gdrkit_shmem_team_my_pe(team);
  const bool is_there = number >= 0 && number < static_cast<int>(expected.size());
  checker.demand(is_there && expected[static_cast<std::size_t>(number)] == pe, what + ": wrong number of this PE");
  for (std::size_t member = 0; member < expected.size(); ++member) {
    checker.demand(gdrkit_shmem_team_translate_pe(team, static_cast<int>(member), world) == expected[member],
                   cli::format("%s: PE %zu is translated to the wrong PE", what.c_str(), member));
  }
  checker.write(buffers.own.data(), &pe, sizeof pe);
  for (const bool is_on_stream : {false, true}) {
    checker.fill(buffers.members.data(), 0xff, expected.size() * sizeof(int));
    int* const target = buffers.members.as<int>();
    int* const source = buffers.own.as<int>();
    const std::string call = what + (is_on_stream ? ": fcollect_on_stream" : ": fcollect");
    (void)checker.succeeds(is_on_stream ? gdrkit_shmem_int_fcollect_on_stream(team, target, source, 1, nullptr)
                                        : gdrkit_shmem_int_fcollect(team, target, source, 1),
                           call);
    (void)checker.succeeds(gdrkit_shmem_stream_synchronize(nullptr), call + ": stream_synchronize");
    std::vector<std::uint8_t> got(expected.size() * sizeof(int));
    checker.read(got.data(), target, got.size());
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(expected.data());
    checker.compare(&got, {bytes, bytes + got.size()}, call);
  }
  (void)checker.succeeds(gdrkit_shmem_team_sync(team), what + ": team_sync");
  (void)checker.succeeds(gdrkit_shmem_team_barrier(team), what + ": team_barrier");
}

void check_strided(Checker& checker, Buffers& buffers, int start, int stride, int size) {
  const std::string what = cli::format("team of %d PEs from %d by %d", size, start, stride);
  std::vector<int> members;
  bool is_in = false;
  for (int i = 0; i < size; ++i) {
    members.push_back(start + i * stride);
    is_in = is_in || members.back() == checker.pe();
  }
  gdrkit_shmem_team_t team = invalid;
  if (!checker.succeeds(gdrkit_shmem_team_split_strided(world, start, stride, size, &team), what)) return;
  checker.demand((team != invalid) == is_in, what + ": created for the wrong PEs");
  if (team == invalid) return;
  check_members(checker, buffers, team, members, what);
  (void)checker.succeeds(gdrkit_shmem_team_destroy(team), what + ": team_destroy");
}

void check_rows_and_columns(Checker& checker, Buffers& buffers, int x_range) {
  const int pe = checker.pe(), n_pes = checker.n_pes();
  const std::string what = cli::format("rows of %d PEs", x_range);
  gdrkit_shmem_team_t row = invalid, column = invalid;
  if (!checker.succeeds(gdrkit_shmem_team_split_2d(world, x_range, &row, &column), what)) return;
  std::vector<int> of_row, of_column;
  for (int other = 0; other < n_pes; ++other) {
    if (other / x_range == pe / x_range) of_row.push_back(other);
    if (other % x_range == pe % x_range) of_column.push_back(other);
  }
  check_members(checker, buffers, row, of_row, what + ", row");
  check_members(checker, buffers, column, of_column, what + ", column");
  (void)checker.succeeds(gdrkit_shmem_team_destroy(row), what + ": team_destroy");
  (void)checker.succeeds(gdrkit_shmem_team_destroy(column), what + ": team_destroy");
}

}  // namespace

void check_teams(Checker& checker) {
  Buffers buffers(checker);
  const int n_pes = checker.n_pes();
  std::vector<int> all;
  for (int pe = 0; pe < n_pes; ++pe) all.push_back(pe);
  check_members(checker, buffers, world, all, "TEAM_WORLD");
  // The PEs whose memory this PE's GPU reaches are those of its machine.
  std::vector<int> node;
  for (const int pe : all) {
    void* pointer = nullptr;
    if (gdrkit_shmem_ptr(buffers.own.data(), pe, &pointer) == 0) node.push_back(pe);
  }
  check_members(checker, buffers, GDRKIT_SHMEM_TEAM_NODE, node, "TEAM_NODE");
  check_members(checker, buffers, GDRKIT_SHMEM_TEAM_SHARED, node, "TEAM_SHARED");
  for (int round = 0; round < 3; ++round) {
    check_strided(checker, buffers, n_pes - 1, -1, n_pes);
    check_strided(checker, buffers, 0, 2, (n_pes + 1) / 2);
    check_strided(checker, buffers, n_pes - 1, 1, 1);
  }
  for (int x_range = 1; x_range <= n_pes && x_range <= 4; ++x_range) {
    check_rows_and_columns(checker, buffers, x_range);
  }
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
