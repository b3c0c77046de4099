// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// StateLayout: offsets of the state that GPU code compiled with NVSHMEM's device library reads. They are facts of
// NVSHMEM's interface. tests/shmem/clients/state_layout.cpp compares them with its headers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gdrkit::shmem_impl::nvshmem {

struct Version {
  int major, minor, patch;
};

/// A member of a struct in GPU memory.
template <class T>
struct Field {
  std::size_t offset;
};

/// The contents of such a struct; members that are not stored are 0.
template <std::size_t largest_bytes>
class Image {
 public:
  template <class T>
  void store(Field<T> field, T value) noexcept {
    std::memcpy(bytes_.data() + field.offset, &value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T load(Field<T> field) const noexcept {
    T value;
    std::memcpy(&value, bytes_.data() + field.offset, sizeof value);
    return value;
  }
  [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }

 private:
  alignas(8) std::array<std::byte, largest_bytes> bytes_{};
};

using Address = std::uint64_t;

/// nvshmemi_device_state_d.
namespace state {
inline constexpr Field<std::int32_t> version{0}, pe{4}, n_pes{8}, node_pe{12}, node_n_pes{16};
inline constexpr Field<std::int32_t> pe_distribution{20};  ///< 1: consecutive PEs share a node
inline constexpr Field<std::int32_t> proxy{24};            ///< 0: no thread of the CPU communicates for GPU kernels
inline constexpr Field<std::int32_t> connectivity{32};     ///< 1: loads, stores and atomics reach every PE
inline constexpr Field<Address> heap_address{40}, heap_bytes{48};
inline constexpr Field<Address> peer_heaps{56};   ///< array of heap addresses, by PE
inline constexpr Field<Address> timeout{80};      ///< 64 bytes that a wait fills if it takes too long
inline constexpr Field<Address> wait_start{88};   ///< counter of waits for any of several words
inline constexpr Field<Address> teams{96};        ///< array of pointers to teams, by handle
inline constexpr Field<Address> sync_words{104};  ///< in the heap: StateLayout::sync_bytes() per team
inline constexpr Field<Address> sync_counts{112};
inline constexpr Field<std::int32_t> tuning_version{120}, barrier_radix{124}, group_barrier_radix{128};
inline constexpr Field<std::int32_t> reduce_radix{132}, broadcast_radix{136}, broadcast_algorithm{140};
inline constexpr Field<std::uint64_t> small_fcollect_bytes{152}, reduce_scratch_bytes{168};
inline constexpr Field<std::int32_t> fcollect_algorithm{176};
inline constexpr Field<std::uint64_t> middle_fcollect_bytes{200};
inline constexpr Field<std::uint8_t> is_initialized{769}, is_bootstrapped{770};
inline constexpr std::size_t largest_bytes = 848;
inline constexpr std::size_t timeout_bytes = 64, tuning_bytes = 512;
}  // namespace state

/// An element of the team pool.
namespace team {
inline constexpr Field<std::int32_t> version{0}, pe{4}, first_pe{8}, stride{12}, n_pes{16}, index{20};
inline constexpr Field<std::uint32_t> flag{176}, fcollect_flag{232};  ///< values that small messages carry
inline constexpr Field<std::uint8_t> has_access{236};                 ///< loads and stores reach every member
inline constexpr Field<std::uint8_t> is_node{237};
inline constexpr Field<std::int32_t> node_team{240}, peer_node_team{248};
inline constexpr Field<std::int32_t> first_duplicate{272};
inline constexpr Field<Address> pe_map{784};  ///< the PE of each member, then the member or -1 for each PE of the job
inline constexpr std::size_t largest_bytes = 816;
}  // namespace team

using StateImage = Image<state::largest_bytes>;
using TeamImage = Image<team::largest_bytes>;

/// What differs between the versions of NVSHMEM.
struct StateLayout {
  Version version;  ///< patches have the same layout
  std::size_t state_bytes;
  std::size_t team_bytes;
  std::int32_t team_version;
  std::uint64_t sync_rows;     ///< rows of 27648 words of 8 bytes per team
  std::uint64_t words_per_pe;  ///< further words
  std::uint64_t reduce_scratch_bytes = 524288;

  static constexpr std::uint64_t row_words = 27648;

  /// The distance between the words of two teams.
  [[nodiscard]] constexpr std::uint64_t sync_bytes(int n_pes) const noexcept {
    const std::uint64_t words = sync_rows * row_words + words_per_pe * static_cast<std::uint64_t>(n_pes);
    return (words + words % 2) * 8 + reduce_scratch_bytes;
  }
};

inline constexpr StateLayout layouts[] = {{{3, 4, 5}, 776, 792, 3, 16, 0}, {{3, 8, 0}, 848, 816, 4, 20, 1}};

/// nullptr: unknown.
constexpr const StateLayout* find_layout(const Version& version) noexcept {
  for (const StateLayout& layout : layouts) {
    if (layout.version.major == version.major && layout.version.minor == version.minor) return &layout;
  }
  return nullptr;
}

}  // namespace gdrkit::shmem_impl::nvshmem
