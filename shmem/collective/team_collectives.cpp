// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/team_collectives.hpp"

#include <new>
#include <optional>
#include <utility>

#include "platform/gpu_code/collective_params.hpp"
#include "shmem/collective/host_exchange.hpp"
#include "shmem/collective/plan.hpp"
#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using platform::CollectiveParameters;

/// Numbers of what is not in CollectiveOperation, for comparison between PEs.
constexpr std::uint64_t splitting_strided = 100, splitting_rows = 101, splitting_columns = 102;
constexpr std::uint64_t on_stream = 1000;  // added for calls on streams

std::uint64_t as_word(int value) noexcept { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

}  // namespace

TeamCollectives::TeamCollectives(const TeamParts& parts, bool compares_streams) noexcept
    : connections_(parts.connections),
      transfers_(parts.transfers),
      gpu_code_(parts.gpu_code),
      compares_streams_(compares_streams),
      table_(parts.connections),
      board_(parts.connections, parts.transfers) {}

base::Result<std::unique_ptr<TeamCollectives>> TeamCollectives::make(const TeamParts& parts,
                                                                     bool compares_streams) noexcept try {
  std::unique_ptr<TeamCollectives> made(new TeamCollectives(parts, compares_streams));
  if (auto opened = made->table_.open(); !opened) return base::pass(opened);
  if (auto opened = made->board_.open(); !opened) return base::pass(opened);
  return made;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating the predefined teams");
}

base::Result<int> TeamCollectives::my_pe(Team team) const noexcept {
  auto found = table_.find(team);
  if (!found) return base::pass(found);
  return (*found)->own();
}

base::Result<int> TeamCollectives::n_pes(Team team) const noexcept {
  auto found = table_.find(team);
  if (!found) return base::pass(found);
  return (*found)->n_pes();
}

base::Result<int> TeamCollectives::translate(Team team, int pe, Team other) const noexcept {
  auto from = table_.find(team);
  if (!from) return base::pass(from);
  auto to = table_.find(other);
  if (!to) return base::pass(to);
  if (pe < 0 || pe >= (*from)->n_pes()) {
    return base::fail(EINVAL, "team_translate_pe: PE %d is out of range: the number of PEs in the team is %d", pe,
                      (*from)->n_pes());
  }
  const int of_job = (*from)->members()[static_cast<std::size_t>(pe)];
  const int found = (*to)->index_of(of_job);
  if (found >= 0) return found;
  return base::fail(ENOENT, "team_translate_pe: PE %d of the job is not in team 0x%x", of_job,
                    static_cast<unsigned>(other));
}

base::Result<Team> TeamCollectives::split_strided(Team parent, int start, int stride, int size) noexcept {
  auto found = table_.find(parent);
  if (!found) return base::pass(found);
  HostTeam& of = **found;
  const std::int64_t last = start + std::int64_t{stride} * (std::int64_t{size} - 1);
  base::Status valid;
  if (size < 1 || start < 0 || start >= of.n_pes() || last < 0 || last >= of.n_pes() || (stride == 0 && size > 1)) {
    valid = base::fail(
        EINVAL, "team_split_strided: start %d, stride %d and size %d select no PE, or PEs outside the team of %d PEs",
        start, stride, size, of.n_pes());
  }
  const TeamRange range{start, stride, size};
  const bool is_in = valid && range.index_of(of.own()) >= 0;
  return table_.make(of, "team_split_strided", splitting_strided,
                     {{"start", as_word(start)}, {"stride", as_word(stride)}, {"size", as_word(size)}}, valid,
                     is_in ? std::optional(range) : std::nullopt);
}

base::Result<Teams2d> TeamCollectives::split_2d(Team parent, int x_range) noexcept {
  auto found = table_.find(parent);
  if (!found) return base::pass(found);
  HostTeam& of = **found;
  base::Status valid;
  if (x_range < 1) valid = base::fail(EINVAL, "team_split_2d: invalid x_range %d; use at least 1", x_range);
  const int width = valid ? std::min(x_range, of.n_pes()) : 1;
  const int x = of.own() % width, row = of.own() / width * width;
  const TeamRange of_x{row, 1, std::min(width, of.n_pes() - row)};
  const TeamRange of_y{x, width, (of.n_pes() - x + width - 1) / width};
  auto made_x = table_.make(of, "team_split_2d", splitting_rows, {{"x_range", as_word(x_range)}}, valid, of_x);
  if (!made_x) return base::pass(made_x);
  auto made_y = table_.make(of, "team_split_2d", splitting_columns, {{"x_range", as_word(x_range)}}, valid, of_y);
  if (made_y) return Teams2d{*made_x, *made_y};
  table_.forget(*made_x);
  return base::pass(made_y);
}

base::Result<Team> TeamCollectives::init_team(std::uint64_t id, int n_pes, int pe) noexcept {
  constexpr const char* what = "team_init";
  if (n_pes < 1 || n_pes > connections_.n_pes() || pe < 0 || pe >= n_pes) {
    return base::fail(EINVAL, "%s: PE number %d or number of PEs %d is out of range; the job has %d PEs", what, pe,
                      n_pes, connections_.n_pes());
  }
  TeamBoard::Participant participant(board_, id, n_pes, pe, what);
  auto made = table_.join(what, n_pes, [&participant](std::uint64_t word) { return participant.gather(word); });
  if (made) participant.succeed();
  return made;
}

base::Status TeamCollectives::destroy(Team team) noexcept {
  if (team == GDRKIT_SHMEM_TEAM_INVALID) return {};
  auto found = table_.find(team);
  if (!found) return base::pass(found);
  return table_.destroy(**found);
}

base::Result<TeamCollectives::Prepared> TeamCollectives::prepare(const CollectiveCall& call) noexcept {
  auto team = table_.find(call.team);
  if (!team) return base::pass(team);
  if (auto whole = fault_of(**team); !whole) return base::pass(whole);
  auto checked = check_call(call, **team, connections_.heap());
  if (!checked) return base::pass(checked);
  return Prepared{*team, *checked};
}

base::Status TeamCollectives::exchange(const Prepared& prepared, bool is_on_stream, const Message& message) noexcept {
  const CheckedCall& checked = prepared.checked;
  const auto operation = static_cast<std::uint64_t>(checked.call.operation) + (is_on_stream ? on_stream : 0);
  // The source of an fcollect may be anywhere: its place in the target differs from PE to PE.
  const bool is_source_alike = checked.call.operation != CollectiveOperation::fcollect;
  const std::initializer_list<Argument> arguments = {
      {"the size in bytes", checked.call.size_bytes},
      {"the root, type or reduction", checked.kind(), true},
      {"the target's offset in the symmetric heap", checked.target_offset},
      {"the source's offset in the symmetric heap", is_source_alike ? checked.source_offset : 0}};
  if (auto exchanged = prepared.team->exchange(checked.name, operation, arguments, message); !exchanged)
    return exchanged;
  return prepared.team->compare(checked.name, arguments);
}

base::Status TeamCollectives::run(const CollectiveCall& call) noexcept {
  auto prepared = prepare(call);
  if (!prepared) return base::pass(prepared);
  const CheckedCall& checked = prepared->checked;
  const bool is_barrier = call.operation == CollectiveOperation::barrier;
  if (is_barrier) {
    if (auto done = transfers_.complete_all(); !done) return done;
  }
  if (checked.has_data() && call.size_bytes == 0) return exchange(*prepared, false, {});
  if (checked.has_data() && !fits_host_exchange(checked) && prepared->team->is_over_nodes()) {
    return exchange_in_bulk(transfers_, *prepared->team, checked, [&] { return exchange(*prepared, false, {}); });
  }
  if (checked.has_data() && !fits_host_exchange(checked)) {
    // Before the exchange: CUDA may wait for a running GPU kernel before it returns a new stream, and with several PEs
    // in one process, that GPU kernel may wait for this PE.
    if (auto made = create_stream_once(*prepared->team); !made) return made;
    if (auto exchanged = exchange(*prepared, false, {}); !exchanged) return exchanged;
    return run_on_gpu(*prepared);
  }
  if (!checked.has_data()) {
    if (auto exchanged = exchange(*prepared, false, {}); !exchanged || !is_barrier) return exchanged;
    // After the exchange, as in barrier_all.
    if (auto whole = take_fault(); !whole) return whole;
    return gpu_code_.check_waits();
  }
  unsigned char buffer[parts::TeamWord::most_bytes];
  auto message = read_source(transfers_, *prepared->team, checked, buffer);
  if (!message) return base::pass(message);
  if (auto exchanged = exchange(*prepared, false, *message); !exchanged) return exchanged;
  return write_target(transfers_, *prepared->team, checked);
}

base::Status TeamCollectives::launch(const CollectiveCall& call, platform::Stream stream) noexcept {
  auto prepared = prepare(call);
  if (!prepared) return base::pass(prepared);
  if (prepared->team->is_over_nodes()) {
    // This GPU cannot access all PEs of the team: the CPU performs the collective when the stream has reached it.
    auto done = connections_.with_device([&] { return connections_.device().synchronize(stream); });
    if (!done) return done;
    return run(call);
  }
  if (compares_streams_) {
    if (auto exchanged = exchange(*prepared, true, {}); !exchanged) return exchanged;
  }
  if (prepared->checked.has_data() && call.size_bytes == 0) return {};
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  return launch_in(*prepared, stream, 0);
}

base::Status TeamCollectives::create_stream_once(HostTeam& team) noexcept {
  const std::lock_guard lock(team.mutex);
  if (team.stream.handle != 0) return {};
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  auto stream = connections_.device().create_stream();
  if (!stream) return base::pass(stream);
  team.stream = *stream;
  return {};
}

base::Status TeamCollectives::run_on_gpu(const Prepared& prepared) noexcept {
  HostTeam& team = *prepared.team;
  const std::lock_guard lock(team.mutex);
  const platform::DeviceScope scope(connections_.device());
  if (auto current = scope.status(); !current) return current;
  const std::uint64_t ticket = ++team.ticket;
  if (auto launched = launch_in(prepared, team.stream, ticket); !launched) return launched;
  return wait_for(prepared, ticket);
}

base::Status TeamCollectives::launch_in(const Prepared& prepared, platform::Stream stream,
                                        std::uint64_t ticket) noexcept {
  // Another PE's end then ends the waits of the GPU kernel.
  if (auto watched = gpu_code_.watch(); !watched) return watched;
  const CheckedCall& checked = prepared.checked;
  CollectiveParameters parameters{};
  parameters.state = gpu_code_.state();
  parameters.team = table_.state(*prepared.team);
  const Plan plan = plan_collective(checked.call.operation, checked.call.size_bytes, parameters.team);
  parameters.target = reinterpret_cast<std::uint64_t>(checked.call.target);
  parameters.source = reinterpret_cast<std::uint64_t>(checked.call.source);
  parameters.size_bytes = checked.call.size_bytes;
  parameters.ticket = ticket;
  parameters.operation = checked.call.operation;
  parameters.route = plan.route;
  parameters.root = static_cast<std::uint32_t>(checked.call.root);
  parameters.type = static_cast<std::uint32_t>(checked.call.type);
  parameters.reduction = static_cast<std::uint32_t>(checked.call.reduction);
  parameters.piece_bytes = plan.piece_bytes;
  return connections_.gpu_kernels().launch(parameters, plan.shape, stream);
}

/// The GPU kernel has a separate limit and reports its timeout. The CPU detects an ended PE earlier.
base::Status TeamCollectives::wait_for(const Prepared& prepared, std::uint64_t ticket) noexcept {
  const HostTeam& team = *prepared.team;
  shmem::TeamReport& report = table_.report(team.slot());
  parts::Waiter waiter(connections_.node(), std::chrono::milliseconds(0), prepared.checked.name);
  while (shmem::detail::load_acquire(&report.finished) < ticket) {
    base::Status waited = fault_of(team);
    if (waited) waited = waiter.pause();
    if (waited) continue;
    shmem::detail::post(&report.stop, 1);  // ends the GPU kernel's waits
    (void)connections_.device().synchronize(team.stream);
    return waited;
  }
  return {};
}

base::Status TeamCollectives::fault_of(const HostTeam& team) const noexcept {
  const std::uint64_t fault = table_.fault(team.slot());
  if (fault == 0) return {};
  if (const int dead = connections_.node().first_dead(); dead >= 0) {
    return base::fail(ECONNRESET,
                      "a collective of team 0x%x did not complete: PE %d has ended; see the error message of PE %d",
                      static_cast<unsigned>(team.handle()), dead, dead);
  }
  const auto member = static_cast<std::size_t>(fault / 2);
  const int pe = member < team.members().size() ? team.members()[member] : -1;
  return base::fail(ETIMEDOUT,
                    "a collective of team 0x%x on PE %d's GPU timed out: PE %d did not take part or passed different "
                    "arguments; destroy the team, and set GDRKIT_SHMEM_CHECK_COLLECTIVES=1 to compare arguments",
                    static_cast<unsigned>(team.handle()), connections_.pe(), pe);
}

base::Status TeamCollectives::take_fault() noexcept {
  for (int slot = 0; slot < parts::team_slots; ++slot) {
    if (table_.fault(slot) == 0) continue;
    const auto lock = table_.keep_teams();
    HostTeam* const team = table_.at(slot);
    if (team == nullptr || team->is_fault_taken) continue;
    team->is_fault_taken = true;
    if (auto whole = fault_of(*team); !whole) return whole;
  }
  return {};
}

}  // namespace gdrkit::shmem_impl::collective
