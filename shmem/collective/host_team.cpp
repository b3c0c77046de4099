// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/collective/host_team.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstring>
#include <utility>

#include "shmem/parts/waiter.hpp"
#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::collective {

HostTeam::HostTeam(parts::Connections& connections, Team handle, int slot, std::vector<int> members,
                   std::vector<std::uint64_t> first_arrivals, int own)
    : connections_(connections),
      handle_(handle),
      slot_(slot),
      members_(std::move(members)),
      own_(own),
      lines_(members_.size()),
      first_arrivals_(std::move(first_arrivals)) {
  is_over_nodes_ = std::any_of(members_.begin(), members_.end(),
                               [this](int member) { return connections_.node().index_of(member) < 0; });
  if (is_over_nodes()) {
    remote_lines_.resize(members_.size());
    contribution_bytes_.resize(members_.size());
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!is_over_nodes() || i == static_cast<std::size_t>(own_)) {
      lines_[i] = &connections_.team_lines(connections_.node().index_of(members_[i]))[slot_];
      continue;
    }
    remote_lines_[i] = std::make_unique<parts::TeamLine>();
    lines_[i] = remote_lines_[i].get();
  }
}

int HostTeam::index_of(int pe) const noexcept {
  const auto found = std::find(members_.begin(), members_.end(), pe);
  return found == members_.end() ? -1 : static_cast<int>(found - members_.begin());
}

/// Data of the members in one exchange, as bytes: for each member the size of the data, the words and the data.
class HostTeam::Words final : public remote::AllgatherData {
 public:
  Words(HostTeam& team, const char* what) noexcept : team_(team), what_(what) {}

  [[nodiscard]] std::vector<char> pack(std::size_t count) const override {
    std::vector<char> bytes;
    for (std::size_t before = 0; before < count; ++before) {
      const int member = before_own(before);
      const std::uint64_t data_bytes = team_.contribution_bytes_[static_cast<std::size_t>(member)];
      const parts::TeamWord& part = team_.contribution(member);
      append(bytes, &data_bytes, sizeof data_bytes);
      append(bytes, part.words, sizeof part.words);
      append(bytes, part.data, data_bytes);
    }
    return bytes;
  }

  base::Status unpack(std::size_t distance, const std::vector<char>& bytes) override {
    std::size_t at = 0;
    for (std::size_t before = distance; before < team_.members_.size() && at < bytes.size(); ++before) {
      const int member = before_own(before);
      parts::TeamWord& part = team_.contribution(member);
      std::uint64_t data_bytes = 0;
      const bool is_whole = take(bytes, at, &data_bytes, sizeof data_bytes) && data_bytes <= sizeof part.data &&
                            take(bytes, at, part.words, sizeof part.words) && take(bytes, at, part.data, data_bytes);
      if (!is_whole) {
        return base::fail(EPROTO,
                          "%s: PE %d sent an invalid message of %zu bytes; use one release of gdrkit for all PEs",
                          what_, team_.members_[static_cast<std::size_t>(before_own(distance))], bytes.size());
      }
      team_.contribution_bytes_[static_cast<std::size_t>(member)] = data_bytes;
    }
    return {};
  }

 private:
  [[nodiscard]] int before_own(std::size_t distance) const noexcept {
    const int n = team_.n_pes();
    return (team_.own_ + n - static_cast<int>(distance)) % n;
  }
  static void append(std::vector<char>& bytes, const void* data, std::size_t size_bytes) {
    const auto* const from = static_cast<const char*>(data);
    bytes.insert(bytes.end(), from, from + size_bytes);
  }
  static bool take(const std::vector<char>& bytes, std::size_t& at, void* data, std::size_t size_bytes) noexcept {
    if (size_bytes > bytes.size() - at) return false;
    if (size_bytes != 0) std::memcpy(data, bytes.data() + at, size_bytes);
    at += size_bytes;
    return true;
  }

  HostTeam& team_;
  const char* const what_;
};

base::Status HostTeam::exchange_by_messages(const char* what) noexcept {
  const remote::Allgather call{static_cast<std::uint64_t>(slot_), members_, static_cast<std::size_t>(own_),
                               first_arrivals_, exchanges_};
  Words words(*this, what);
  return connections_.remote()->allgather(call, words, what);
}

/// Ordering: the store of a PE's count releases its data and earlier accesses; every PE that waits for the count
/// acquires them.
base::Status HostTeam::exchange_by_memory(const char* what) noexcept {
  for (int member = 0; member < n_pes(); ++member) {
    parts::Waiter waiter(connections_.node(), connections_.limit(), what);
    const std::uint64_t expected = first_arrivals_[static_cast<std::size_t>(member)] + exchanges_;
    while (line(member).arrivals.load(std::memory_order_acquire) < expected) {
      if (auto waited = waiter.pause(); !waited) {
        return base::fail(waited.error().errno_value, "%s (PE %d waits for PE %d, a member of team 0x%x)",
                          waited.error().text(), connections_.pe(), members_[static_cast<std::size_t>(member)],
                          static_cast<unsigned>(handle_));
      }
    }
  }
  return {};
}

base::Status HostTeam::exchange(const char* what, std::uint64_t operation, std::initializer_list<Argument> arguments,
                                const Message& message) noexcept {
  ++exchanges_;
  parts::TeamWord& own = contribution(own_);
  own.words[operation_word] = operation;
  std::size_t word = first_argument_word;
  for (const Argument& argument : arguments) own.words[word++] = argument.value;
  own.words[note_word] = message.note;
  if (message.size_bytes != 0) std::memcpy(own.data, message.data, message.size_bytes);
  line(own_).arrivals.fetch_add(1, std::memory_order_acq_rel);
  if (!is_over_nodes()) return exchange_by_memory(what);
  contribution_bytes_[static_cast<std::size_t>(own_)] = message.size_bytes;
  return exchange_by_messages(what);
}

/// All PEs compare with the first PE, so that all get the same result.
base::Status HostTeam::compare(const char* what, std::initializer_list<Argument> arguments) const noexcept {
  const parts::TeamWord& first = contribution(0);
  for (int member = 1; member < n_pes(); ++member) {
    const parts::TeamWord& theirs = contribution(member);
    const int pe = members_[static_cast<std::size_t>(member)];
    if (theirs.words[operation_word] != first.words[operation_word]) {
      return base::fail(
          EPROTO,
          "%s: PE %d and PE %d called different collective functions; call the same function on all PEs of the team",
          what, members_[0], pe);
    }
    std::size_t word = first_argument_word;
    for (const Argument& argument : arguments) {
      const std::uint64_t one = first.words[word], other = theirs.words[word];
      ++word;
      if (one == other) continue;
      if (argument.is_code) {
        return base::fail(EPROTO, "%s: %s differs between PE %d and PE %d; all PEs must pass the same value", what,
                          argument.name, members_[0], pe);
      }
      return base::fail(
          EPROTO, "%s: %s is %" PRId64 " on PE %d and %" PRId64 " on PE %d; all PEs must pass the same value", what,
          argument.name, static_cast<std::int64_t>(one), members_[0], static_cast<std::int64_t>(other), pe);
    }
  }
  return {};
}

}  // namespace gdrkit::shmem_impl::collective
