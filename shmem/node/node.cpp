// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/node/node.hpp"

#include <algorithm>
#include <new>

#include "shmem/bootstrap/star.hpp"
#include "shmem/node/node_area.hpp"
#include "shmem/node/node_join.hpp"

namespace gdrkit::shmem_impl::node {
namespace {

constexpr std::size_t most_bytes_with_fds = 256;

/// The data that each PE sends to all others.
struct PeCard {
  MachineName machine;
  bootstrap::Token name{};    // of the PE's socket
  bootstrap::Token secret{};  // of the PE's group, if the PE is the first of its node
};

class RealNode final : public Node {
 public:
  RealNode(int pe, std::vector<int> pes, std::unique_ptr<bootstrap::Star> star)
      : pe_(pe), pes_(std::move(pes)), star_(std::move(star)) {}

  /// Collective over the node: the first makes the area, all map it and show that they live.
  base::Status open_area(std::size_t area_bytes) {
    const std::size_t index = static_cast<std::size_t>(index_of(pe_));
    base::Status made;
    base::UniqueFd file;
    if (index == 0) {
      auto created = NodeArea::create(pes_.size(), area_bytes);
      if (created) file = std::move(*created);
      if (!created) made = base::pass(created);
    }
    struct Offer {
      std::uint64_t area_bytes;
      bootstrap::PeOutcome outcome;
    };
    const Offer mine{area_bytes, bootstrap::PeOutcome(made)};
    std::vector<Offer> offers(pes_.size());
    auto fds = send_fds(file.get(), &mine, sizeof mine, offers.data(), "sharing memory on the node");
    if (!fds) return base::pass(fds);
    if (!made) return made;
    if (offers[0].outcome.errno_value != 0) return fail_as(offers[0].outcome, "PE " + std::to_string(pes_[0]));
    for (std::size_t i = 1; i < pes_.size(); ++i) {
      if (offers[i].area_bytes == offers[0].area_bytes) continue;
      return base::fail(EPROTO,
                        "cannot share memory on this node: PE %d requests %llu bytes, but PE %d requests %llu bytes; "
                        "use one release of gdrkit for all PEs",
                        pes_[i], static_cast<unsigned long long>(offers[i].area_bytes), pes_[0],
                        static_cast<unsigned long long>(offers[0].area_bytes));
    }
    if (index != 0) file = std::move((*fds)[0]);
    auto area = NodeArea::open(file.get(), index, pes_.size(), area_bytes);
    if (!area) return base::pass(area);
    area_ = std::move(*area);
    return {};
  }

  const std::vector<int>& pes() const noexcept override { return pes_; }
  bool has(int pe) const noexcept override { return index_of(pe) >= 0; }
  int index_of(int pe) const noexcept override {
    const auto place = std::lower_bound(pes_.begin(), pes_.end(), pe);
    return place != pes_.end() && *place == pe ? static_cast<int>(place - pes_.begin()) : -1;
  }
  void* area() const noexcept override { return area_->memory(); }

  base::Result<std::vector<base::UniqueFd>> exchange_fds(int fd, const void* mine, std::size_t size_bytes, void* all,
                                                         const char* step) noexcept override {
    if (size_bytes > most_bytes_with_fds) {
      return base::fail(EINVAL,
                        "cannot exchange data with the other PEs during '%s': %zu bytes exceed the limit of "
                        "%zu bytes for a message with a file descriptor",
                        step, size_bytes, most_bytes_with_fds);
    }
    try {
      return send_fds(fd, mine, size_bytes, all, step);
    } catch (const std::bad_alloc&) {
      return base::fail_literal(ENOMEM, "out of memory while exchanging file descriptors on this node");
    }
  }

  bool is_alive(int pe) noexcept override {
    const int index = index_of(pe);
    return index < 0 || area_->is_locked(static_cast<std::size_t>(index));
  }

  // Recorded for all PEs before any PE reports it, so that a PE that ends because of this one is not reported as the
  // cause.
  int first_dead() noexcept override {
    int lost = area_->first_lost();
    for (std::size_t i = 0; lost < 0 && i < pes_.size(); ++i) {
      if (!area_->is_locked(i) && !area_->has_left(i)) lost = area_->note_lost(pes_[i]);
    }
    return lost;
  }
  int note_dead(int pe) noexcept override { return area_->note_lost(pe); }

  void leave() noexcept override { area_->set_left(); }

 private:
  base::Result<std::vector<base::UniqueFd>> send_fds(int fd, const void* mine, std::size_t size_bytes, void* all,
                                                     const char* name) {
    std::vector<base::UniqueFd> fds(pes_.size());
    const bootstrap::StarStep step{name, mine, size_bytes, all, fd, &fds};
    if (auto sent = star_->allgather(step); !sent) return base::pass(sent);
    return fds;
  }

  int pe_;
  std::vector<int> pes_;
  std::unique_ptr<bootstrap::Star> star_;
  std::unique_ptr<NodeArea> area_;
};

/// All PEs must set the variables or none: a PE without them would silently count as on another node.
base::Status check_stated(const std::vector<PeCard>& cards) {
  for (std::size_t pe = 1; pe < cards.size(); ++pe) {
    const bool is_stated = cards[pe].machine.is_stated != 0;
    if (is_stated == (cards[0].machine.is_stated != 0)) continue;
    return base::fail(EPROTO,
                      "GDRKIT_SHMEM_HOSTID or GDRKIT_SHMEM_SOCKET_DIR is set for PE %zu, but PE %zu has neither; set "
                      "the same variables for all PEs of the job",
                      is_stated ? pe : 0, is_stated ? 0 : pe);
  }
  return {};
}

/// The PEs of this PE's node, and this PE's socket or its connection to the first of them.
struct NodeGroup {
  std::vector<int> pes;   ///< ascending; the first is the centre
  base::UniqueFd socket;  ///< on the first PE: listens; on the others: connected and introduced to the first
};

/// Connects to the first PE of a node and sends this PE's introduction.
base::Result<base::UniqueFd> reach(const bootstrap::Exchange& exchange, int first, const PeCard& card,
                                   const bootstrap::Rendezvous& rendezvous, const bootstrap::Deadline& deadline) {
  auto connected = rendezvous.connect(card.name, deadline);
  base::Status reached = base::status_of(connected);
  const char* remedy =
      "mount the same GDRKIT_SHMEM_SOCKET_DIR in all containers of a node, and set a different GDRKIT_SHMEM_HOSTID on "
      "each node";
  if (connected && !bootstrap::is_same_user(connected->get())) {
    reached = base::fail_literal(EACCES, "the PE runs as another user");
    remedy = "start all PEs as the same user";
  }
  if (reached) {
    remedy = "see the error message of that PE";
    reached = bootstrap::introduce_member(connected->get(), bootstrap::secret_of(card.secret), exchange.pe(),
                                          exchange.n_pes());
  }
  if (reached) return connected;
  return base::fail(EHOSTUNREACH, "cannot connect to PE %d of the same node: %s; %s", first, reached.error().text(),
                    remedy);
}

/// Result of a PE in one round of find_node_group().
struct Attempt {
  std::int32_t reached = -1;  ///< the first of its node; -1: not known yet
  bootstrap::PeOutcome outcome;
};

/// All PEs with the same machine name try to connect to the first of them. PEs that fail are on another node, and
/// repeat this among themselves. So there is one round for each node with that name, and one round in all if names are
/// unique. If the user stated the name, a failure is an error, because the user expects shared memory.
base::Result<NodeGroup> find_node_group(bootstrap::Exchange& exchange, const std::vector<PeCard>& cards,
                                        bootstrap::LocalListener listener, const bootstrap::Rendezvous& rendezvous,
                                        const bootstrap::Deadline& deadline) {
  const auto n_pes = static_cast<std::size_t>(exchange.n_pes());
  const auto me = static_cast<std::size_t>(exchange.pe());
  std::vector<int> first_of(n_pes, -1);
  NodeGroup node_group;
  for (std::size_t round = 0; std::find(first_of.begin(), first_of.end(), -1) != first_of.end(); ++round) {
    int tried = -1;
    for (std::size_t pe = 0; first_of[me] < 0 && tried < 0 && pe <= me; ++pe) {
      if (first_of[pe] < 0 && cards[pe].machine == cards[me].machine) tried = static_cast<int>(pe);
    }
    Attempt attempt;
    attempt.reached = first_of[me];
    if (tried == exchange.pe()) {
      node_group.socket = listener.take_socket();
      attempt.reached = tried;
    } else if (tried >= 0) {
      auto connected = reach(exchange, tried, cards[static_cast<std::size_t>(tried)], rendezvous, deadline);
      if (connected) {
        node_group.socket = std::move(*connected);
        attempt.reached = tried;
      } else if (cards[me].machine.is_stated != 0) {
        attempt.outcome = bootstrap::PeOutcome(base::pass(connected));
      }
    }
    auto all = exchange.gather(attempt, "connecting the PEs of each node");
    if (!all) return base::pass(all);
    for (std::size_t pe = 0; pe < n_pes; ++pe) {
      const bootstrap::PeOutcome& outcome = (*all)[pe].outcome;
      if (outcome.errno_value != 0) return fail_as(outcome, "PE " + std::to_string(pe));
      first_of[pe] = (*all)[pe].reached;
      // Each round determines the PEs of at least one node.
      if (first_of[pe] >= -1 && first_of[pe] <= static_cast<int>(pe) && round < n_pes) continue;
      return base::fail(EPROTO, "PE %zu sent invalid data about its node; use one release of gdrkit for all PEs", pe);
    }
  }
  for (std::size_t pe = 0; pe < n_pes; ++pe) {
    if (first_of[pe] == first_of[me]) node_group.pes.push_back(static_cast<int>(pe));
  }
  return node_group;
}

base::Result<std::unique_ptr<RealNode>> start_node(int pe, int n_pes, NodeGroup node_group,
                                                   const std::vector<PeCard>& cards, std::size_t area_bytes,
                                                   std::chrono::milliseconds limit) {
  bootstrap::StarGroup group;
  group.pes = node_group.pes;
  group.position =
      static_cast<int>(std::find(node_group.pes.begin(), node_group.pes.end(), pe) - node_group.pes.begin());
  group.secret = bootstrap::secret_of(cards[static_cast<std::size_t>(node_group.pes.front())].secret);
  group.where = "a UNIX socket of this node";
  group.n_pes = n_pes;
  group.limit = limit;
  group.is_introduced = true;
  group.is_trusted = bootstrap::is_same_user;
  base::Result<std::unique_ptr<bootstrap::Star>> star;
  if (group.position == 0) {
    star = bootstrap::make_star_centre(std::move(node_group.socket), std::move(group));
  } else {
    const auto connect = [&](const bootstrap::Deadline&) -> base::Result<base::UniqueFd> {
      if (node_group.socket) return std::move(node_group.socket);
      return base::fail(ECONNRESET,
                        "PE %d left the job while the PEs of this node connected; see the error message of PE %d",
                        node_group.pes.front(), node_group.pes.front());
    };
    star = bootstrap::make_star_member(connect, std::move(group));
  }
  if (!star) return base::pass(star);
  auto node = std::make_unique<RealNode>(pe, std::move(node_group.pes), std::move(*star));
  if (auto opened = node->open_area(area_bytes); !opened) return base::pass(opened);
  return node;
}

}  // namespace

base::Result<std::unique_ptr<Node>> join_node(const MachineName& machine, bootstrap::Exchange& exchange,
                                              std::size_t area_bytes, std::chrono::milliseconds limit,
                                              std::size_t bytes_for_each, const bootstrap::Rendezvous& rendezvous) {
  const bootstrap::Deadline deadline(limit);
  PeCard card;
  card.machine = machine;
  for (bootstrap::Token* token : {&card.name, &card.secret}) {
    const auto made = bootstrap::make_token();
    if (!made) return base::pass(made);
    *token = *made;
  }
  auto listener = rendezvous.listen(card.name);
  if (!listener) return base::pass(listener);
  const auto cards = exchange.gather(card, "finding the node of each PE");
  if (!cards) return base::pass(cards);
  if (auto stated = check_stated(*cards); !stated) return base::pass(stated);
  auto node_group = find_node_group(exchange, *cards, std::move(*listener), rendezvous, deadline);
  if (!node_group) return base::pass(node_group);
  area_bytes += node_group->pes.size() * bytes_for_each;
  auto node = start_node(exchange.pe(), exchange.n_pes(), std::move(*node_group), *cards, area_bytes, limit);
  // If one node fails, all nodes fail with its reason.
  const base::Status started = base::status_of(node);
  const auto outcomes = exchange.gather(bootstrap::PeOutcome(started), "starting each node");
  if (!started) return base::pass(started);
  if (!outcomes) return base::pass(outcomes);
  for (std::size_t pe = 0; pe < outcomes->size(); ++pe) {
    const bootstrap::PeOutcome& outcome = (*outcomes)[pe];
    if (outcome.errno_value != 0) return fail_as(outcome, "PE " + std::to_string(pe));
  }
  return std::unique_ptr<Node>(std::move(*node));
}

base::Result<std::unique_ptr<Node>> Node::join(bootstrap::Exchange& exchange, std::size_t area_bytes,
                                               std::chrono::milliseconds limit) noexcept try {
  const auto machine = read_machine_name();
  if (!machine) return base::pass(machine);
  return join_node(*machine, exchange, area_bytes, limit);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while connecting to the PEs of this node");
}

}  // namespace gdrkit::shmem_impl::node
