// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/team_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "platform/device/device.hpp"
#include "shmem/collective/plan.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

constexpr int slot_bits = 8;
constexpr std::size_t entries = 2 * parts::team_slots;
constexpr std::uint32_t largest_generation = (1U << 23) - 1;
constexpr std::uint64_t all_slots = (std::uint64_t{1} << parts::team_slots) - 1;
static_assert(entries * sizeof(shmem::TeamEntry) <= parts::TeamMemory::table_bytes);
// The low byte of an uneven team's handle is the number of its entry: -team_slots + slot.
static_assert(shmem::uneven_team == (-parts::team_slots & 0xff));

int slot_of_handle(Team handle) noexcept { return handle & (parts::team_slots - 1); }

/// Returns a hash of 32 bits (FNV-1a).
std::uint64_t hash_of(const std::vector<int>& pes) noexcept {
  std::uint32_t hash = 2166136261U;
  for (const int pe : pes) hash = (hash ^ static_cast<std::uint32_t>(pe)) * 16777619U;
  return hash;
}

/// Returns whether distance(member) grows by the same amount from each member to the next.
template <class Distance>
bool are_even(const std::vector<shmem::TeamMember>& members, Distance distance) noexcept {
  for (std::size_t i = 2; i < members.size(); ++i) {
    if (distance(members[i]) - distance(members[i - 1]) != distance(members[1]) - distance(members[0])) return false;
  }
  return true;
}
bool has_even_heaps(const std::vector<shmem::TeamMember>& members) noexcept {
  return are_even(members, [](const shmem::TeamMember& member) { return member.heap_bytes; });
}
bool has_even_numbers(const std::vector<shmem::TeamMember>& members) noexcept {
  return are_even(members, [](const shmem::TeamMember& member) { return member.pe; });
}

}  // namespace

TeamTable::TeamTable(parts::Connections& connections) noexcept
    : connections_(connections), memory_(connections.team_memory()), start_(connections.teams_address()) {}

TeamTable::~TeamTable() {
  for (int slot = 0; slot < parts::team_slots; ++slot) remove(slot);
  (void)reports_.free();
}

base::Status TeamTable::open() noexcept try {
  platform::Device& device = connections_.device();
  auto reports = device.allocate(platform::AllocationKind::host, sizeof(shmem::TeamReport) * entries);
  if (!reports) return base::pass(reports);
  reports_ = std::move(*reports);
  std::memset(reinterpret_cast<void*>(reports_.address()), 0, sizeof(shmem::TeamReport) * entries);
  auto address = device.device_address(reinterpret_cast<void*>(reports_.address()));
  if (!address) return base::pass(address);
  reports_address_ = *address;
  std::vector<int> world(static_cast<std::size_t>(connections_.n_pes()));
  std::iota(world.begin(), world.end(), 0);
  const std::vector<int>& node = connections_.node().pes();
  for (const Team team : {GDRKIT_SHMEM_TEAM_WORLD, GDRKIT_SHMEM_TEAM_SHARED, GDRKIT_SHMEM_TEAM_NODE}) {
    const auto& members = team == GDRKIT_SHMEM_TEAM_WORLD ? world : node;
    if (auto placed = place(team, members, std::vector<std::uint64_t>(members.size())); !placed) return placed;
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating the predefined teams");
}

base::Result<HostTeam*> TeamTable::find(Team handle) const noexcept {
  const int slot = slot_of_handle(handle);
  if (handle == GDRKIT_SHMEM_TEAM_INVALID) {
    return base::fail(
        EINVAL,
        "cannot use the team: the handle is GDRKIT_SHMEM_TEAM_INVALID; call the function only on PEs of the team");
  }
  HostTeam* const team = handle < 0 || slot >= parts::team_slots ? nullptr : at(slot);
  if (team != nullptr && team->handle() == handle) return team;
  return base::fail(EINVAL, "PE %d cannot use team 0x%x: the team was destroyed, or another PE created this handle",
                    connections_.pe(), static_cast<unsigned>(handle));
}

base::Result<Team> TeamTable::make(HostTeam& parent, const char* what, std::uint64_t operation,
                                   std::initializer_list<Argument> arguments, const base::Status& valid,
                                   std::optional<TeamRange> range) noexcept try {
  const std::lock_guard lock(mutex_);
  if (auto exchanged = parent.exchange(what, operation, arguments, {}); !exchanged) return base::pass(exchanged);
  if (auto same = parent.compare(what, arguments); !same) return base::pass(same);
  if (!valid) return base::pass(valid);
  const Gather gather = [&](std::uint64_t word) -> base::Result<std::vector<std::uint64_t>> {
    if (auto exchanged = parent.exchange(what, operation, {}, {.note = word}); !exchanged) return base::pass(exchanged);
    std::vector<std::uint64_t> words(parent.members().size());
    for (int member = 0; member < parent.n_pes(); ++member) {
      words[static_cast<std::size_t>(member)] = parent.note_of(member);
    }
    return words;
  };
  std::vector<std::size_t> positions(range ? static_cast<std::size_t>(range->size) : 0);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    positions[i] = static_cast<std::size_t>(range->member(static_cast<int>(i)));
  }
  return create(what, gather, parent.members(), positions);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating a team");
}

base::Result<Team> TeamTable::join(const char* what, int n_pes, const Gather& gather) noexcept try {
  const std::lock_guard lock(mutex_);
  constexpr int pe_bits = 32;
  const auto word_of = [n_pes](int pe) {
    return static_cast<std::uint64_t>(n_pes) << pe_bits | static_cast<std::uint32_t>(pe);
  };
  const auto words = gather(word_of(connections_.pe()));
  if (!words) return base::pass(words);
  std::vector<int> pes;
  for (const std::uint64_t word : *words) {
    const int pe = static_cast<int>(word & 0xffffffff), their_n_pes = static_cast<int>(word >> pe_bits);
    if (their_n_pes != n_pes) {
      return base::fail(EPROTO, "%s: n_pes is %d on PE %d and %d on PE %d; all PEs must pass the same value", what,
                        n_pes, connections_.pe(), their_n_pes, pe);
    }
    pes.push_back(pe);
  }
  std::vector<std::size_t> all(pes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return create(what, gather, pes, all);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating a team");
}

/// The PEs exchange which slots are free on all; from which count the new team's exchanges begin; and whether all of
/// its PEs have made their part. After the last exchange its GPU kernels may write to each other.
base::Result<Team> TeamTable::create(const char* what, const Gather& gather, const std::vector<int>& pes,
                                     const std::vector<std::size_t>& positions) {
  // The hash in the upper half shows whether all have the same list of PEs.
  const auto all_used = gather(used_slots() | hash_of(pes) << parts::team_slots);
  if (!all_used) return base::pass(all_used);
  for (const std::uint64_t word : *all_used) {
    if (word >> parts::team_slots == hash_of(pes)) continue;
    return base::fail(EINVAL, "%s: two PEs passed the same number; pass different numbers", what);
  }
  const std::uint64_t used = std::accumulate(all_used->begin(), all_used->end(), std::uint64_t{0}, std::bit_or<>());
  const int slot = std::countr_one(used);
  if ((used & all_slots) == all_slots) {
    return base::fail(ENOSPC, "%s: no team handle is free on all %zu PEs (at most %d teams per PE); destroy a team",
                      what, pes.size(), parts::team_slots);
  }
  const auto arrivals =
      gather(connections_.team_lines(connections_.node().index_of(connections_.pe()))[slot].arrivals.load());
  if (!arrivals) return base::pass(arrivals);
  base::Status placed;
  Team handle = GDRKIT_SHMEM_TEAM_INVALID;
  if (!positions.empty()) {
    std::vector<int> members;
    std::vector<std::uint64_t> first_arrivals;
    for (const std::size_t position : positions) {
      members.push_back(pes[position]);
      first_arrivals.push_back((*arrivals)[position]);
    }
    const auto at_slot = static_cast<std::size_t>(slot);
    generations_[at_slot] = generations_[at_slot] % largest_generation + 1;
    handle = static_cast<Team>(generations_[at_slot] << slot_bits | static_cast<unsigned>(slot));
    if (!has_even_heaps(table_of(members))) handle |= shmem::uneven_team;
    placed = place(handle, std::move(members), std::move(first_arrivals));
  }
  const auto errors = gather(static_cast<std::uint64_t>(placed ? 0 : placed.error().errno_value));
  base::Status all = base::status_of(errors);
  for (std::size_t i = 0; all && i < pes.size(); ++i) {
    if (const auto failed = static_cast<int>((*errors)[i]); failed != 0) {
      all = base::fail(failed, "%s: PE %d could not create the team; see the error message of PE %d", what, pes[i],
                       pes[i]);
    }
  }
  if (placed && all) return handle;
  if (!positions.empty() && placed) remove(slot);
  return placed ? base::pass(all) : base::pass(placed);
}

base::Status TeamTable::place(Team handle, std::vector<int> members, std::vector<std::uint64_t> first_arrivals) noexcept
    try {
  int own = 0;
  while (members[static_cast<std::size_t>(own)] != connections_.pe()) ++own;
  const int slot = slot_of_handle(handle);
  auto team =
      std::make_unique<HostTeam>(connections_, handle, slot, std::move(members), std::move(first_arrivals), own);
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  shmem::TeamState state = state_of(*team);
  if (state.members_address != 0) {
    const auto table = table_of(team->members());
    const std::size_t bytes = table.size() * sizeof table[0];
    if (auto written = connections_.device().copy_to_device(state.members_address, table.data(), bytes); !written) {
      return written;
    }
  }
  if (auto written = write_entry(slot, state, memory_.team_bytes(slot)); !written) return written;
  states_[static_cast<std::size_t>(slot)] = state;
  if ((handle & shmem::uneven_team) != 0) {
    state.team = handle;
    state.words_address = start_ + memory_.kernel_words(slot);
    state.scratch_address = start_ + memory_.kernel_scratch(slot);
    state.scratch_bytes = memory_.kernel_scratch_bytes();
    state.report_address += parts::team_slots * sizeof(shmem::TeamReport);
    if (auto written = write_entry(uneven_entry(slot), state, memory_.kernel_bytes()); !written) return written;
  }
  teams_[static_cast<std::size_t>(slot)].store(team.release(), std::memory_order_release);
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating a team");
}

base::Status TeamTable::write_entry(int number, const shmem::TeamState& state, std::uint64_t size_bytes) noexcept {
  shmem::TeamReport& team_report = report(number);
  for (std::uint64_t* const word : {&team_report.fault, &team_report.finished, &team_report.stop})
    shmem::detail::post(word, 0);
  platform::Device& device = connections_.device();
  if (auto zeroed = device.fill(state.words_address, 0, size_bytes); !zeroed) return zeroed;
  const shmem::TeamEntry entry{state, {}};
  return device.copy_to_device(table_address() + static_cast<std::uint64_t>(number) * sizeof entry, &entry,
                               sizeof entry);
}

std::vector<shmem::TeamMember> TeamTable::table_of(const std::vector<int>& members) const {
  const node::Node& node = connections_.node();
  const auto stride = static_cast<std::int64_t>(connections_.heap().stride_bytes());
  const int own = node.index_of(connections_.pe());
  const bool is_here = std::all_of(members.begin(), members.end(), [&](int pe) { return node.index_of(pe) >= 0; });
  std::vector<shmem::TeamMember> table;
  for (const int pe : members) table.push_back({is_here ? (node.index_of(pe) - own) * stride : 0, pe, 0});
  return table;
}

shmem::TeamState TeamTable::state_of(const HostTeam& team) const {
  const std::vector<shmem::TeamMember> members = table_of(team.members());
  const shmem::TeamMember& first = members[0];
  const shmem::TeamMember& second = members[members.size() > 1 ? 1 : 0];
  shmem::TeamState state{};
  state.team = team.handle() & ~shmem::uneven_team;
  state.n_pes = team.n_pes();
  state.pe = team.own();
  state.first_pe = first.pe;
  state.pe_stride = second.pe - first.pe;
  const std::uint64_t row = shmem::team_row_bytes(members.size());
  state.lanes = std::min(static_cast<std::int32_t>(memory_.words_bytes() / row - 1), connections_.blocks_at_once());
  state.spans_nodes = team.is_over_nodes() ? 1 : 0;
  state.first_bytes = first.heap_bytes;
  state.stride_bytes = second.heap_bytes - first.heap_bytes;
  if (!has_even_heaps(members) || !has_even_numbers(members)) {
    state.members_address = start_ + memory_.members(team.slot());
  }
  state.words_address = start_ + memory_.words(team.slot());
  state.scratch_address = start_ + memory_.scratch(team.slot());
  state.scratch_bytes = memory_.scratch_bytes(team.slot());
  state.group_limits = group_limits(team.n_pes(), state.scratch_bytes);
  state.report_address = reports_address_ + static_cast<std::uint64_t>(team.slot()) * sizeof(shmem::TeamReport);
  return state;
}

base::Status TeamTable::destroy(HostTeam& team) noexcept {
  constexpr const char* what = "team_destroy";
  if (team.slot() < fixed_teams) {
    return base::fail(EINVAL, "%s: cannot destroy the predefined team %d; destroy only teams that a split created",
                      what, team.handle());
  }
  platform::Device& device = connections_.device();
  const platform::DeviceScope scope(device);
  if (auto current = scope.status(); !current) return current;
  // No data of this PE's GPU is in flight when the other PEs reuse the slot.
  base::Status ended = device.synchronize_all();
  constexpr std::uint64_t operation = 200;
  base::keep_first(ended, team.exchange(what, operation, {}, {}));
  if (ended) ended = team.compare(what, {});
  if (!ended) return ended;
  const std::lock_guard lock(mutex_);
  remove(team.slot());
  return {};
}

void TeamTable::forget(Team handle) noexcept {
  const std::lock_guard lock(mutex_);
  if (handle != GDRKIT_SHMEM_TEAM_INVALID) remove(slot_of_handle(handle));
}

std::uint64_t TeamTable::used_slots() const noexcept {
  std::uint64_t used = 0;
  for (int slot = 0; slot < parts::team_slots; ++slot) {
    if (at(slot) != nullptr) used |= std::uint64_t{1} << slot;
  }
  return used;
}

void TeamTable::remove(int slot) noexcept {
  std::unique_ptr<HostTeam> team;
  {
    const std::lock_guard lock(removal_mutex_);
    team.reset(teams_[static_cast<std::size_t>(slot)].exchange(nullptr));
  }
  if (team != nullptr && team->stream.handle != 0) {
    for (const int entry : {slot, uneven_entry(slot)}) shmem::detail::post(&report(entry).stop, 1);
    (void)connections_.device().synchronize(team->stream);
    (void)connections_.device().destroy_stream(team->stream);
  }
}

}  // namespace gdrkit::shmem_impl::collective
