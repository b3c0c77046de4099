// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/team_board.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <new>

#include "shmem/parts/waiter.hpp"

namespace gdrkit::shmem_impl::collective {
namespace {

using parts::TeamMemory;

// An id is a count and the PE that issued it. A tag is an id and a round.
constexpr int pe_bits = 16, round_bits = 3;
// Tags of a PE that has left are higher than those of all rounds, and odd, so the word of the last round remains.
constexpr std::uint64_t last_round = 4, succeeded = 5, failed_round = 7;

std::uint64_t tag_of(std::uint64_t id, std::uint64_t round) noexcept { return id << round_bits | round; }
bool is_of(std::uint64_t tag, std::uint64_t id) noexcept { return tag >> round_bits == id; }

}  // namespace

char* TeamBoard::at(std::uint64_t id) const noexcept {
  const auto number = static_cast<int>((id >> pe_bits) % TeamMemory::boards);
  return reinterpret_cast<char*>(connections_.teams_address() + connections_.team_memory().board(number));
}

base::Status TeamBoard::open() noexcept {
  return connections_.device().fill(reinterpret_cast<std::uint64_t>(at(0)), 0,
                                    TeamMemory::boards * connections_.team_memory().board_bytes());
}

base::Status TeamBoard::read(int pe, std::uint64_t id, int n_pes, std::uint64_t& current,
                             std::vector<Entries>& entries) {
  std::vector<char> bytes(TeamMemory::board_header_bytes + static_cast<std::size_t>(n_pes) * sizeof(Entries));
  if (auto got = transfers_.get_from_team(bytes.data(), at(id), bytes.size(), pe); !got) return got;
  std::memcpy(&current, bytes.data(), sizeof current);
  entries.resize(static_cast<std::size_t>(n_pes));
  std::memcpy(entries.data(), bytes.data() + TeamMemory::board_header_bytes, entries.size() * sizeof(Entries));
  return {};
}

/// Returns whether a PE that began to create this team has not ended.
bool TeamBoard::is_in_use(std::uint64_t id, const std::vector<Entries>& entries) noexcept {
  return id != 0 && std::any_of(entries.begin(), entries.end(), [id](const Entries& of_pe) {
           return is_of(of_pe.last_tag(), id) && of_pe.last_tag() <= tag_of(id, last_round);
         });
}

base::Result<std::uint64_t> TeamBoard::issue() noexcept try {
  const std::lock_guard lock(mutex_);
  for (int tried = 0; tried < TeamMemory::boards; ++tried) {
    const std::uint64_t id = ++issued_ << pe_bits | static_cast<std::uint64_t>(connections_.pe());
    std::uint64_t before = 0;
    std::vector<Entries> entries;
    if (auto got = read(connections_.pe(), id, connections_.n_pes(), before, entries); !got) return base::pass(got);
    if (is_in_use(before, entries)) continue;
    if (auto put = transfers_.put_to_team(nullptr, nullptr, 0, at(id), id, connections_.pe()); !put) {
      return base::pass(put);
    }
    if (auto done = transfers_.complete_to(connections_.pe()); !done) return base::pass(done);
    return id;
  }
  return base::fail(EBUSY,
                    "team_get_unique_id: %d teams are being created with unique ids of PE %d; wait until all their PEs "
                    "have returned from team_init",
                    TeamMemory::boards, connections_.pe());
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while making a unique id for a team");
}

TeamBoard::Participant::~Participant() {
  if (round_ == 0) return;
  const std::uint64_t tag = tag_of(id_, has_succeeded_ ? succeeded : failed_round);
  (void)board_.transfers_.put_to_team(nullptr, nullptr, 0, entry(1) + offsetof(Entry, tag), tag, issuer());
  (void)board_.transfers_.complete_to(issuer());
}

int TeamBoard::Participant::issuer() const noexcept { return static_cast<int>(id_ & ((1U << pe_bits) - 1)); }

char* TeamBoard::Participant::entry(std::uint64_t round) const noexcept {
  return board_.at(id_) + TeamMemory::board_header_bytes + static_cast<std::size_t>(own_) * sizeof(Entries) +
         round % 2 * sizeof(Entry);
}

base::Status TeamBoard::Participant::publish(std::uint64_t word) {
  char* const at = entry(round_);
  if (auto put = board_.transfers_.put_to_team(at + offsetof(Entry, word), &word, sizeof word,
                                               at + offsetof(Entry, tag), tag_of(id_, round_), issuer());
      !put) {
    return put;
  }
  return board_.transfers_.complete_to(issuer());
}

base::Result<std::vector<std::uint64_t>> TeamBoard::Participant::gather(std::uint64_t word) {
  if (id_ >> pe_bits == 0 || issuer() >= board_.connections_.n_pes()) return invalid_id_error();
  std::uint64_t current = 0;
  std::vector<Entries> entries;
  const auto own = static_cast<std::size_t>(own_);
  if (round_ == 0) {
    if (auto got = board_.read(issuer(), id_, n_pes_, current, entries); !got) return base::pass(got);
    const std::uint64_t tag = entries[own].last_tag();
    const auto is_used = [this](const Entries& of_pe) { return of_pe.last_tag() == tag_of(id_, succeeded); };
    const auto has_failed = [this](const Entries& of_pe) { return of_pe.last_tag() == tag_of(id_, failed_round); };
    if (current != id_ || has_failed(entries[own]) || std::any_of(entries.begin(), entries.end(), is_used)) {
      return invalid_id_error();
    }
    if (is_of(tag, id_)) {
      ++round_;  // so that the other PE also fails
      return equal_number_error();
    }
    const auto failed = std::find_if(entries.begin(), entries.end(), has_failed);
    if (failed != entries.end()) return other_failed_error(failed - entries.begin());
  }
  const std::uint64_t expected_tag = tag_of(id_, ++round_);
  if (auto published = publish(word); !published) return base::pass(published);
  parts::Waiter waiter(board_.connections_.node(), board_.connections_.limit(), what_);
  // A PE may be one round ahead; its word of this round remains. Only a PE that has failed has a later tag without it.
  // The entries may change while they are read, so they are read once more after all have been seen.
  for (bool is_second_read = false;;) {
    if (auto got = board_.read(issuer(), id_, n_pes_, current, entries); !got) return base::pass(got);
    if (current != id_) return invalid_id_error();
    if (entries[own].last_tag() < expected_tag) {  // overwritten by a PE that used a former id of this board
      if (auto published = publish(word); !published) return base::pass(published);
    }
    const auto missing = std::find_if(entries.begin(), entries.end(),
                                      [expected_tag](const Entries& of_pe) { return of_pe.last_tag() < expected_tag; });
    const auto failed = std::find_if(entries.begin(), entries.end(), [&](const Entries& of_pe) {
      return of_pe.last_tag() > expected_tag && of_pe.of_round[round_ % 2].tag != expected_tag;
    });
    if (is_second_read && failed != entries.end()) {
      return other_failed_error(failed - entries.begin());
    }
    if (failed == entries.end() && entries[own].of_round[round_ % 2].word != word) {
      return equal_number_error();
    }
    if (is_second_read && missing == entries.end()) break;
    is_second_read = missing == entries.end() || failed != entries.end();
    if (is_second_read) continue;
    if (auto waited = waiter.pause(); !waited) {
      return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d of the new team)", waited.error().text(),
                        board_.connections_.pe(), static_cast<int>(missing - entries.begin()));
    }
  }
  std::vector<std::uint64_t> words;
  for (const Entries& of_pe : entries) words.push_back(of_pe.of_round[round_ % 2].word);
  return words;
}

tl::unexpected<base::Error> TeamBoard::Participant::equal_number_error() const noexcept {
  return base::fail(EINVAL, "%s: another PE also passed number %d; pass different numbers", what_, own_);
}

tl::unexpected<base::Error> TeamBoard::Participant::other_failed_error(std::ptrdiff_t number) const noexcept {
  return base::fail(EPROTO, "%s: PE %td of the new team failed; see its error message", what_, number);
}

tl::unexpected<base::Error> TeamBoard::Participant::invalid_id_error() const noexcept {
  return base::fail(EINVAL, "%s: invalid unique id 0x%" PRIx64 "; get a new one from team_get_unique_id", what_, id_);
}

}  // namespace gdrkit::shmem_impl::collective
