// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// TeamBoard: exchanges words between PEs that share only a unique id, to create a team. The words are in the heap of
// the PE that issued the id.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/result.hpp"
#include "shmem/parts/connections.hpp"
#include "shmem/parts/transfers.hpp"

namespace gdrkit::shmem_impl::collective {

/// Each PE has TeamMemory::boards boards, which its ids use in turn. A board stores the id and two entries for each
/// member of the team. Rounds alternate between the entries.
class TeamBoard {
 public:
  /// Both must outlive the object.
  TeamBoard(parts::Connections& connections, parts::Transfers& transfers) noexcept
      : connections_(connections), transfers_(transfers) {}
  /// Zeroes the boards of this PE; the device must be current.
  base::Status open() noexcept;

  /// Returns a new id. If no PE has used the former id of its board, that id is invalid from now on. Fails with EBUSY
  /// if all boards are in use.
  [[nodiscard]] base::Result<std::uint64_t> issue() noexcept;

  /// One PE's part in the creation of one team.
  class Participant {
   public:
    /// `own`: number of this PE in the team.
    Participant(TeamBoard& board, std::uint64_t id, int n_pes, int own, const char* what) noexcept
        : board_(board), id_(id), n_pes_(n_pes), own_(own), what_(what) {}
    /// Releases the board, also after an error. The other members fail unless succeed() was called.
    ~Participant();
    Participant(const Participant&) = delete;
    Participant& operator=(const Participant&) = delete;

    /// Returns the words of all members. Errors: EINVAL (invalid id, or another PE has the same number), EPROTO
    /// (another PE failed), and those of Waiter.
    [[nodiscard]] base::Result<std::vector<std::uint64_t>> gather(std::uint64_t word);
    void succeed() noexcept { has_succeeded_ = true; }

   private:
    [[nodiscard]] base::Status publish(std::uint64_t word);
    [[nodiscard]] char* entry(std::uint64_t round) const noexcept;
    [[nodiscard]] int issuer() const noexcept;
    [[nodiscard]] tl::unexpected<base::Error> invalid_id_error() const noexcept;
    [[nodiscard]] tl::unexpected<base::Error> equal_number_error() const noexcept;
    [[nodiscard]] tl::unexpected<base::Error> other_failed_error(std::ptrdiff_t number) const noexcept;

    TeamBoard& board_;
    const std::uint64_t id_;
    const int n_pes_;
    const int own_;
    const char* const what_;
    std::uint64_t round_ = 0;
    bool has_succeeded_ = false;
  };

 private:
  struct Entry {
    std::uint64_t word;
    std::uint64_t tag;  ///< written after the word; identifies the word's id and round
  };
  struct Entries {
    Entry of_round[2];

    [[nodiscard]] std::uint64_t last_tag() const noexcept { return std::max(of_round[0].tag, of_round[1].tag); }
  };
  static_assert(sizeof(Entries) == parts::TeamMemory::board_entry_bytes);

  [[nodiscard]] char* at(std::uint64_t id) const noexcept;
  /// Reads the id and the first `n_pes` entries.
  base::Status read(int pe, std::uint64_t id, int n_pes, std::uint64_t& current, std::vector<Entries>& entries);
  [[nodiscard]] static bool is_in_use(std::uint64_t id, const std::vector<Entries>& entries) noexcept;

  parts::Connections& connections_;
  parts::Transfers& transfers_;
  std::mutex mutex_;
  std::uint64_t issued_ = 0;
};

}  // namespace gdrkit::shmem_impl::collective
