// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Allgathers and allreduces by messages: of the first PEs of the nodes, and of PEs on several nodes.
// Dissemination: a member with the data of `known` members sends it to the members `known`, 2 * known, ... positions
// after it. After each round, each member has fan_out times as much data. All senders to a member are different in an
// allgather, so messages need no round number.
#include <algorithm>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

constexpr std::uint64_t place_of_nodes = UINT32_MAX;
/// A message costs its sender less than a round costs all: the most that go out at once are three.
constexpr std::size_t fan_out = 4;

/// A state that is folded over all members; folding twice what was folded once changes nothing.
class FoldedState final : public AllgatherData {
 public:
  FoldedState(void* state, std::size_t size_bytes, Remote::Fold fold, const Allgather& allgather,
              const char* what) noexcept
      : state_(static_cast<char*>(state)), size_bytes_(size_bytes), fold_(fold), allgather_(allgather), what_(what) {}

  [[nodiscard]] std::vector<char> pack(std::size_t) const override { return {state_, state_ + size_bytes_}; }
  base::Status unpack(std::size_t distance, const std::vector<char>& bytes) override {
    if (bytes.size() != size_bytes_) {
      const std::vector<int>& members = allgather_.members;
      return base::fail(
          EPROTO, "%s: PE %d and PE %d called different collective functions; call the same function on all PEs", what_,
          members[allgather_.own], members[(allgather_.own + members.size() - distance) % members.size()]);
    }
    fold_(state_, bytes.data());
    return {};
  }

 private:
  char* const state_;
  const std::size_t size_bytes_;
  const Remote::Fold fold_;
  const Allgather& allgather_;
  const char* const what_;
};

}  // namespace

base::Status Remote::allreduce(void* state, std::size_t size_bytes, Fold fold, const char* what) noexcept {
  const auto own = std::lower_bound(leaders_.begin(), leaders_.end(), pe_) - leaders_.begin();
  const Allgather call{place_of_nodes, leaders_, static_cast<std::size_t>(own), node_counts_, ++node_allreduces_};
  FoldedState data(state, size_bytes, fold, call, what);
  return allgather(call, data, what);
}

base::Status Remote::allgather(const Allgather& call, AllgatherData& data, const char* what) noexcept try {
  const std::size_t n = call.members.size();
  const auto number_of = [&](std::size_t member) { return call.first_counts[member] + call.number; };
  for (std::size_t known = 1; known < n; known *= fan_out) {
    const std::size_t end = std::min(n, known * fan_out);
    for (std::size_t distance = known; distance < end; distance += known) {
      // In the last round, omit the data that the receiver gets from others.
      const std::vector<char> bytes = data.pack(std::min(known, n - distance));
      const int to = call.members[(call.own + distance) % n];
      if (auto sent = send_allgather_data(to, call.place, number_of(call.own), bytes, what); !sent) return sent;
    }
    for (std::size_t distance = known; distance < end; distance += known) {
      const std::size_t from = (call.own + n - distance) % n;
      auto received = receive_allgather_data(call.members[from], call.place, number_of(from), what);
      if (!received) return base::pass(received);
      if (auto taken = data.unpack(distance, *received); !taken) return taken;
    }
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", what);
}

base::Status Remote::send_allgather_data(int pe, std::uint64_t place, std::uint64_t number,
                                         const std::vector<char>& data, const char* what) noexcept try {
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::fail(to.error().errno_value, "%s: %s", what, to.error().text());
  for (std::size_t at = 0; at == 0 || at < data.size(); at += piece_bytes) {
    RemoteMessage message = next_message(**to, RemoteMessageKind::allgather);
    message.offset = place;
    message.operand = number;
    message.compare = at;
    message.size_bytes = data.size();
    auto sent = send_small(pe, message, data.data() + at, std::min(data.size() - at, piece_bytes));
    if (!sent) return base::fail(sent.error().errno_value, "%s: PE %d: %s", what, pe, sent.error().text());
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", what);
}

base::Result<std::vector<char>> Remote::receive_allgather_data(int pe, std::uint64_t place, std::uint64_t number,
                                                               const char* what) noexcept try {
  Entered entered(*this);
  auto came = wait(entered.lock, what, -1, [&] { return allgather_messages_.has(place, pe, number); });
  if (!came) {
    return base::fail(came.error().errno_value, "%s (PE %d waits for PE %d, which may wait for another one)",
                      came.error().text(), pe_, pe);
  }
  return allgather_messages_.take(place, pe);
} catch (const std::bad_alloc&) {
  return base::fail(ENOMEM, "%s: out of memory", what);
}

}  // namespace gdrkit::shmem_impl::remote
