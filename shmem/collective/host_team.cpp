// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/host_team.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstring>
#include <utility>

#include "shmem/core/waiter.hpp"

namespace gdrkit::shmem {

HostTeam::HostTeam(Pe& pe, Team handle, int slot, std::vector<int> members, int own)
    : pe_(pe),
      handle_(handle),
      slot_(slot),
      members_(std::move(members)),
      own_(own),
      lines_(members_.size()),
      first_arrivals_(members_.size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const int index = pe_.node().index_of(members_[i]);
    if (index >= 0) {
      lines_[i] = &pe_.team_lines(index)[slot_];
      continue;
    }
    is_over_machines_ = true;
    remote_lines_.resize(members_.size());
    remote_lines_[i] = std::make_unique<TeamLine>();
    lines_[i] = remote_lines_[i].get();
  }
}

int HostTeam::index_of(int pe) const noexcept {
  const auto found = std::find(members_.begin(), members_.end(), pe);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

base::Status HostTeam::tell_other_machines(const char* what, std::uint64_t arrival, std::size_t size_bytes) noexcept {
  if (!is_over_machines_) return {};
  const auto* const bytes = reinterpret_cast<const char*>(&said(own_));
  const std::vector<char> data(bytes, bytes + offsetof(TeamWord, data) + size_bytes);
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (remote_lines_[member] == nullptr) continue;
    auto told = pe_.remote()->say(members_[member], static_cast<std::uint64_t>(slot_), arrival, data, what);
    if (!told) return told;
  }
  return {};
}

/// Ordering: what a PE says, and did before, is released by its count and acquired by all who wait for it.
base::Status HostTeam::meet(const char* what, std::uint64_t operation, std::initializer_list<Argument> arguments,
                            const Message& message) noexcept {
  ++meetings_;
  TeamWord& own = said(own_);
  own.words[operation_word] = operation;
  std::size_t word = first_argument_word;
  for (const Argument& argument : arguments) own.words[word++] = argument.value;
  own.words[note_word] = message.note;
  if (message.size_bytes != 0) std::memcpy(own.data, message.data, message.size_bytes);
  const std::uint64_t arrival = line(own_).arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (auto told = tell_other_machines(what, arrival, message.size_bytes); !told) return told;
  for (int member = 0; member < n_pes(); ++member) {
    const auto place = static_cast<std::size_t>(member);
    if (is_over_machines_ && remote_lines_[place] != nullptr) {
      auto heard = pe_.remote()->hear(members_[place], static_cast<std::uint64_t>(slot_),
                                      first_arrivals_[place] + meetings_, what);
      if (!heard) return base::pass(heard);
      std::memcpy(&said(member), heard->data(), std::min(heard->size(), sizeof(TeamWord)));
      continue;
    }
    Waiter waiter(pe_.node(), pe_.limit(), what);
    const std::uint64_t wanted = first_arrivals_[static_cast<std::size_t>(member)] + meetings_;
    while (line(member).arrivals.load(std::memory_order_acquire) < wanted) {
      if (auto waited = waiter.pause(); !waited) {
        return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d of team 0x%x, PE %d of the job)",
                          waited.error().text(), pe_.pe(), member, static_cast<unsigned>(handle_),
                          members_[static_cast<std::size_t>(member)]);
      }
    }
  }
  return {};
}

/// All compare with the first PE, so that all come to the same answer.
base::Status HostTeam::compare(const char* what, std::initializer_list<Argument> arguments) const noexcept {
  const TeamWord& first = said(0);
  for (int member = 1; member < n_pes(); ++member) {
    const TeamWord& theirs = said(member);
    const int pe = members_[static_cast<std::size_t>(member)];
    if (theirs.words[operation_word] != first.words[operation_word]) {
      return base::fail(EPROTO, "%s: PE %d and PE %d called different collective functions of their team", what,
                        members_[0], pe);
    }
    std::size_t word = first_argument_word;
    for (const Argument& argument : arguments) {
      const std::uint64_t one = first.words[word], other = theirs.words[word];
      ++word;
      if (one == other) continue;
      return base::fail(EPROTO, "%s: %s is %" PRId64 " on PE %d and %" PRId64 " on PE %d; all PEs must pass the same",
                        what, argument.name, static_cast<std::int64_t>(one), members_[0],
                        static_cast<std::int64_t>(other), pe);
    }
  }
  return {};
}

}  // namespace gdrkit::shmem
