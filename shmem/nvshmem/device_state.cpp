// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/nvshmem/device_state.hpp"

#include <gdrkit/detail/shmem_private.h>

#include <cerrno>
#include <utility>

namespace gdrkit::shmem_impl::nvshmem {
namespace {

constexpr int slots = GDRKIT_SHMEM_TEAMS_MAX;
// The upper bits of a handle, from bit 8, are the number of teams that had its slot before, so the table has room for
// 255 teams per slot.
constexpr std::int32_t pool_entries = 65536;
/// NVSHMEM's team of the PEs with the caller's number on their nodes. On one node it is the caller alone. No team of
/// gdrkit has this handle.
constexpr std::int32_t same_node_pe_team = 3;
constexpr int same_node_pe_index = slots;
constexpr std::uint64_t descriptions = slots + 1;
constexpr int no_team = -1;

void* pointer(Address address) noexcept { return reinterpret_cast<void*>(address); }

int copy(Address target, const void* source, std::size_t size_bytes) noexcept {
  return gdrkit_shmem_copy_to_gpu(pointer(target), source, size_bytes);
}

constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept { return (bytes + 255) / 256 * 256; }

/// Returns 0 if the distances of the members differ. NVSHMEM reads the map of the members if it is not positive.
std::int32_t stride_of(const std::vector<int>& members) noexcept {
  const std::int32_t stride = members.size() > 1 ? members[1] - members[0] : 1;
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (members[i] - members[i - 1] != stride) return 0;
  }
  return stride;
}

}  // namespace

int DeviceState::make(const StateLayout& layout, std::unique_ptr<DeviceState>* made) {
  const int pe = gdrkit_shmem_my_pe(), n_pes = gdrkit_shmem_n_pes();
  if (pe < 0) return pe;
  gdrkit_shmem_info info{};
  info.struct_size = sizeof info;
  if (const int result = gdrkit_shmem_get_info(&info); result != 0) return result;
  // All PEs of a job on several nodes return here, before they allocate.
  if (info.node_pes != n_pes) return -EOPNOTSUPP;
  std::unique_ptr<DeviceState> state(new DeviceState(layout, pe, n_pes));
  int result = state->allocate();
  if (result == 0) result = state->fill_image(info);
  for (const std::int32_t team : {GDRKIT_SHMEM_TEAM_WORLD, GDRKIT_SHMEM_TEAM_SHARED, GDRKIT_SHMEM_TEAM_NODE}) {
    if (result == 0) result = state->add_team(team);
  }
  if (result == 0) result = state->write_team(same_node_pe_team, same_node_pe_index, {pe});
  if (result == 0) *made = std::move(state);
  return result;
}

int DeviceState::allocate() {
  const auto n_pes = static_cast<std::uint64_t>(n_pes_);
  // The PEs map the whole range of the heap, so all of this may be in one object. Peers access only the words.
  std::uint64_t bytes = 0;
  const auto place = [&bytes](std::uint64_t size_bytes) {
    const std::uint64_t offset = bytes;
    bytes += round_up(size_bytes);
    return offset;
  };
  team_stride_ = round_up(layout_.team_bytes + 2 * n_pes * sizeof(std::int32_t));
  sync_words_ = place(descriptions * layout_.sync_bytes(n_pes_));
  sync_counts_ = place(descriptions * 2 * sizeof(std::int64_t));
  teams_ = place(descriptions * team_stride_);
  pool_ = place(pool_entries * sizeof(Address));
  peer_heaps_ = place(n_pes * sizeof(Address));
  scratch_ = place(state::timeout_bytes + sizeof(std::uint64_t));
  void* object = nullptr;
  const int result = gdrkit_shmem_calloc(1, bytes, &object);
  for (Address* const part : {&sync_words_, &sync_counts_, &teams_, &pool_, &peer_heaps_, &scratch_}) {
    *part += reinterpret_cast<Address>(object);
  }
  return result;
}

int DeviceState::fill_peer_heaps(std::uint64_t heap_address) {
  std::vector<Address> heaps(static_cast<std::size_t>(n_pes_));
  for (int pe = 0; pe < n_pes_; ++pe) {
    void* words = nullptr;
    const int result = gdrkit_shmem_ptr(pointer(sync_words_), pe, &words);
    if (result != 0) return result;
    heaps[static_cast<std::size_t>(pe)] = reinterpret_cast<Address>(words) - (sync_words_ - heap_address);
  }
  return copy(peer_heaps_, heaps.data(), heaps.size() * sizeof(Address));
}

int DeviceState::fill_image(const gdrkit_shmem_info& info) {
  image_.store(state::version, (1 << 16) + static_cast<std::int32_t>(layout_.state_bytes));
  image_.store(state::pe, pe_);
  image_.store(state::n_pes, n_pes_);
  image_.store(state::node_pe, gdrkit_shmem_team_my_pe(GDRKIT_SHMEM_TEAM_NODE));
  image_.store(state::node_n_pes, info.node_pes);
  image_.store(state::pe_distribution, 1);
  image_.store(state::connectivity, 1);
  image_.store(state::heap_address, info.heap_address);
  image_.store(state::heap_bytes, info.heap_max_bytes);
  image_.store(state::peer_heaps, peer_heaps_);
  image_.store(state::timeout, scratch_);
  image_.store(state::wait_start, scratch_ + state::timeout_bytes);
  image_.store(state::teams, pool_);
  image_.store(state::sync_words, sync_words_);
  image_.store(state::sync_counts, sync_counts_);
  image_.store(state::tuning_version, (2 << 16) + static_cast<std::int32_t>(state::tuning_bytes));
  image_.store(state::barrier_radix, 2);
  image_.store(state::group_barrier_radix, 2);
  // These select algorithms that need nothing but puts, barriers and the scratch memory of reductions. A radix that no
  // scratch memory suffices for excludes the exchange that needs more members of the team's description.
  image_.store(state::reduce_radix, 1 << 30);
  image_.store(state::broadcast_radix, 2);
  image_.store(state::broadcast_algorithm, 1);
  image_.store(state::fcollect_algorithm, 2);
  image_.store(state::reduce_scratch_bytes, layout_.reduce_scratch_bytes);
  image_.store(state::is_initialized, std::uint8_t{1});
  image_.store(state::is_bootstrapped, std::uint8_t{1});
  return fill_peer_heaps(info.heap_address);
}

int DeviceState::add_team(std::int32_t handle) {
  const int slot = handle & (slots - 1);
  if (handle < 0 || handle >= pool_entries || slot >= slots) return -ERANGE;
  const int n = gdrkit_shmem_team_n_pes(handle);
  if (n < 0) return n;
  std::vector<int> members(static_cast<std::size_t>(n));
  for (int member = 0; member < n; ++member) {
    const int pe = gdrkit_shmem_team_translate_pe(handle, member, GDRKIT_SHMEM_TEAM_WORLD);
    if (pe < 0) return pe;
    members[static_cast<std::size_t>(member)] = pe;
  }
  if ((used_slots_ >> slot & 1) != 0) {
    if (const int result = clear_words(slot); result != 0) return result;
  }
  used_slots_ |= std::uint64_t{1} << slot;
  return write_team(handle, slot, members);
}

int DeviceState::remove_team(std::int32_t handle) {
  const Address none = 0;
  if (handle < 0 || handle >= pool_entries) return 0;
  return copy(pool_ + static_cast<Address>(handle) * sizeof none, &none, sizeof none);
}

int DeviceState::clear_words(int index) {
  const std::uint64_t bytes = layout_.sync_bytes(n_pes_);
  const std::vector<std::byte> zeros(bytes);
  return copy(sync_words_ + static_cast<std::uint64_t>(index) * bytes, zeros.data(), bytes);
}

int DeviceState::write_team(std::int32_t handle, int index, const std::vector<int>& members) {
  const auto n = static_cast<std::int32_t>(members.size());
  const Address address = teams_ + static_cast<std::uint64_t>(index) * team_stride_;
  const std::uint64_t map_offset = layout_.team_bytes;
  std::vector<std::int32_t> map(members.begin(), members.end());
  map.resize(members.size() + static_cast<std::size_t>(n_pes_), no_team);
  for (std::int32_t member = 0; member < n; ++member) {
    map[members.size() + static_cast<std::size_t>(members[static_cast<std::size_t>(member)])] = member;
  }
  const bool is_node = n == image_.load(state::node_n_pes);
  TeamImage team;
  team.store(team::version, (layout_.team_version << 16) + static_cast<std::int32_t>(layout_.team_bytes));
  team.store(team::pe, map[members.size() + static_cast<std::size_t>(pe_)]);
  team.store(team::first_pe, members[0]);
  team.store(team::stride, stride_of(members));
  team.store(team::n_pes, n);
  team.store(team::index, index);
  // The words are 0 at first, so a message with this flag is new.
  team.store(team::flag, std::uint32_t{1});
  team.store(team::fcollect_flag, std::uint32_t{1});
  team.store(team::has_access, std::uint8_t{1});
  team.store(team::is_node, static_cast<std::uint8_t>(is_node));
  team.store(team::node_team, is_node ? GDRKIT_SHMEM_TEAM_NODE : no_team);
  team.store(team::peer_node_team, no_team);
  team.store(team::first_duplicate, no_team);
  team.store(team::pe_map, address + map_offset);
  // Barriers wait until a word reaches the count, so it starts above the words.
  const std::int64_t counts[] = {1, 1};
  int result = copy(address, team.data(), layout_.team_bytes);
  if (result == 0) result = copy(address + map_offset, map.data(), map.size() * sizeof map[0]);
  if (result == 0) result = copy(sync_counts_ + static_cast<Address>(index) * sizeof counts, counts, sizeof counts);
  if (result == 0) result = copy(pool_ + static_cast<Address>(handle) * sizeof address, &address, sizeof address);
  return result;
}

}  // namespace gdrkit::shmem_impl::nvshmem
