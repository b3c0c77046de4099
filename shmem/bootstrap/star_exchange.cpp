// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/star_exchange.hpp"

#include <numeric>
#include <optional>
#include <thread>

#include "shmem/bootstrap/star.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

class StarExchange final : public Exchange {
 public:
  /// `secret`: nullptr if it is known to others.
  StarExchange(std::unique_ptr<Star> star, const secret::Key* secret, int pe, int n_pes)
      : star_(std::move(star)), pe_(pe), n_pes_(n_pes) {
    if (secret != nullptr) key_ = secret::derive_key(*secret, "job");
  }

  int pe() const noexcept override { return pe_; }
  int n_pes() const noexcept override { return n_pes_; }
  base::Status allgather(const void* mine, std::size_t size_bytes, void* all, const char* step) noexcept override {
    return star_->allgather({.name = step, .mine = mine, .size_bytes = size_bytes, .all = all});
  }
  const secret::Key* job_key() const noexcept override { return key_ ? &*key_ : nullptr; }

 private:
  std::unique_ptr<Star> star_;
  std::optional<secret::Key> key_;
  int pe_;
  int n_pes_;
};

StarGroup group_of(int pe, int n_pes, const secret::Key& secret, const std::string& where,
                   std::chrono::milliseconds limit) {
  StarGroup group;
  group.position = pe;
  group.pes.resize(static_cast<std::size_t>(n_pes));
  std::iota(group.pes.begin(), group.pes.end(), 0);
  group.n_pes = n_pes;
  group.secret = secret;
  group.where = where;
  group.limit = limit;
  return group;
}

}  // namespace

base::Status check_pe(int pe, int n_pes) noexcept {
  if (n_pes >= 1 && pe >= 0 && pe < n_pes) return {};
  return base::fail(EINVAL, "cannot join the job as PE %d of %d: the PE number is out of range; use 0 to n_pes - 1", pe,
                    n_pes);
}

base::Result<std::unique_ptr<Exchange>> listen_for_pes(base::UniqueFd listener, const std::string& where,
                                                       const secret::Key& secret, int n_pes,
                                                       std::chrono::milliseconds limit) {
  auto star = make_star_centre(std::move(listener), group_of(0, n_pes, secret, where, limit));
  if (!star) return base::pass(star);
  return std::make_unique<StarExchange>(std::move(*star), &secret, 0, n_pes);
}

base::Result<std::unique_ptr<Exchange>> listen_for_own_pes(LocalListener listener, const std::string& where,
                                                           const secret::Key& secret, int n_pes,
                                                           std::chrono::milliseconds limit) {
  StarGroup group = group_of(0, n_pes, secret, where, limit);
  group.is_trusted = is_same_user;
  auto star = make_star_centre(listener.take_socket(), std::move(group));
  if (!star) return base::pass(star);
  return std::make_unique<StarExchange>(std::move(*star), nullptr, 0, n_pes);
}

base::Result<std::unique_ptr<Exchange>> connect_to_own_pe_0(const Rendezvous& rendezvous, const Token& name,
                                                            const std::string& where, const secret::Key& secret, int pe,
                                                            int n_pes, std::chrono::milliseconds limit) {
  StarGroup group = group_of(pe, n_pes, secret, where, limit);
  group.is_trusted = is_same_user;
  const auto connect = [&](const Deadline& deadline) -> base::Result<base::UniqueFd> {
    for (;;) {
      auto connected = rendezvous.connect(name, deadline);
      if (connected) return connected;
      if (deadline.has_passed()) {
        return base::fail(ETIMEDOUT,
                          "cannot find PE 0 at %s within %s; start PE 0; if PE 0 runs as another user, in another "
                          "container or on another node, set GDRKIT_SHMEM_TOKEN for all PEs",
                          where.c_str(), deadline.limit_text().c_str());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  auto star = make_star_member(connect, std::move(group));
  if (!star) return base::pass(star);
  return std::make_unique<StarExchange>(std::move(*star), nullptr, pe, n_pes);
}

base::Result<std::unique_ptr<Exchange>> connect_to_pe_0(const std::vector<TcpAddress>& addresses, bool is_listening,
                                                        const secret::Key& secret, int pe, int n_pes,
                                                        std::chrono::milliseconds limit) {
  const auto connect = [&](const Deadline& deadline) { return connect_to(addresses, is_listening, deadline); };
  const std::string where = addresses.empty() ? "" : addresses.front().text();
  auto star = make_star_member(connect, group_of(pe, n_pes, secret, where, limit));
  if (!star) return base::pass(star);
  return std::make_unique<StarExchange>(std::move(*star), &secret, pe, n_pes);
}

}  // namespace gdrkit::shmem_impl::bootstrap
