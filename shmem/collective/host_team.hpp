// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostTeam: the CPU's state of one team, and synchronization of its PEs through shared host memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "gdrkit/shmem.h"
#include "platform/device/device.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/pe_line.hpp"

namespace gdrkit::shmem_impl::collective {

using Team = gdrkit_shmem_team_t;

/// PEs of a parent team: start, start + stride, ...
struct TeamRange {
  int start = 0;
  int stride = 1;
  int size = 0;

  [[nodiscard]] int member(int index) const noexcept { return start + index * stride; }
  /// Returns -1 if `pe` is not in it.
  [[nodiscard]] int index_of(int pe) const noexcept {
    if (size == 1 || stride == 0) return pe == start ? 0 : -1;
    const int distance = pe - start;
    const int index = distance / stride;
    return distance % stride == 0 && index >= 0 && index < size ? index : -1;
  }
};

/// A number that the PEs of a team compare, and its name.
struct Argument {
  const char* name;
  std::uint64_t value;
  bool is_code = false;  ///< not a number that the caller passed, so messages do not print it
};

/// Data of a PE in an exchange, in addition to the arguments.
struct Message {
  std::uint64_t note = 0;
  const void* data = nullptr;  ///< at most TeamWord::most_bytes
  std::size_t size_bytes = 0;
};

class HostTeam {
 public:
  /// `members`: PEs of the job, in the order of the team; the caller is the one at `own`. `first_arrivals`: how many
  /// exchanges teams of this slot have had on each member, which counts from there.
  HostTeam(parts::Connections& connections, Team handle, int slot, std::vector<int> members,
           std::vector<std::uint64_t> first_arrivals, int own);

  [[nodiscard]] Team handle() const noexcept { return handle_; }
  [[nodiscard]] int slot() const noexcept { return slot_; }
  [[nodiscard]] int own() const noexcept { return own_; }
  [[nodiscard]] int n_pes() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] const std::vector<int>& members() const noexcept { return members_; }
  /// Returns -1 if that PE of the job is not in it.
  [[nodiscard]] int index_of(int pe) const noexcept;
  /// Returns whether its PEs share no memory. They then exchange messages, 3 log4(n_pes) from and to each PE.
  [[nodiscard]] bool is_over_nodes() const noexcept { return is_over_nodes_; }

  /// Publishes this PE's data and waits for all PEs. Their data stays valid until the second exchange after this one
  /// starts. `what`, for error messages, must outlive the call. Errors: as Waiter, with the missing PE.
  base::Status exchange(const char* what, std::uint64_t operation, std::initializer_list<Argument> arguments,
                        const Message& message) noexcept;
  /// Fails with EPROTO, on all PEs, if operations or arguments of the last exchange differ.
  [[nodiscard]] base::Status compare(const char* what, std::initializer_list<Argument> arguments) const noexcept;
  /// Of the last exchange.
  [[nodiscard]] std::uint64_t note_of(int member) const noexcept { return contribution(member).words[note_word]; }
  [[nodiscard]] const unsigned char* data_of(int member) const noexcept { return contribution(member).data; }

  // Of the collectives of the GPU; used under `mutex`.
  std::mutex mutex;
  platform::Stream stream;  ///< of TeamCollectives::create_stream_once
  std::uint64_t ticket = 0;
  bool is_fault_taken = false;  ///< used under TeamTable::keep_teams

 private:
  static constexpr std::size_t operation_word = 0;
  static constexpr std::size_t first_argument_word = 1;
  static constexpr std::size_t note_word = parts::TeamWord::words_count - 1;

  class Words;

  base::Status exchange_by_messages(const char* what) noexcept;
  base::Status exchange_by_memory(const char* what) noexcept;
  [[nodiscard]] parts::TeamLine& line(int member) const noexcept { return *lines_[static_cast<std::size_t>(member)]; }
  [[nodiscard]] parts::TeamWord& contribution(int member) const noexcept {
    return line(member).contributions[exchanges_ % 2];
  }

  parts::Connections& connections_;
  const Team handle_;
  const int slot_;
  const std::vector<int> members_;
  const int own_;
  std::vector<parts::TeamLine*> lines_;
  std::vector<std::unique_ptr<parts::TeamLine>> remote_lines_;  // over nodes: data of the other members, by member
  std::vector<std::size_t> contribution_bytes_;                 // over nodes: size in the last exchange, by member
  bool is_over_nodes_ = false;
  const std::vector<std::uint64_t> first_arrivals_;
  std::uint64_t exchanges_ = 0;
};

}  // namespace gdrkit::shmem_impl::collective
