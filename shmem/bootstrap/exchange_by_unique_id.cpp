// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <netinet/in.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "shmem/bootstrap/exchange.hpp"
#include "shmem/bootstrap/star_exchange.hpp"
#include "shmem/bootstrap/token.hpp"

namespace gdrkit::shmem_impl::bootstrap {
namespace {

constexpr char unique_id_magic[8] = {'g', 'd', 'r', 'k', 'u', 'i', 'd', '1'};

struct UniqueIdContent {
  char magic[8] = {};
  std::uint16_t family = 0;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;
  unsigned char address[16] = {};
  Token token{};
};
// NVSHMEM's ids have 124 bytes for the content, so the last 4 bytes of ours stay 0.
static_assert(sizeof(UniqueIdContent) <= unique_id_bytes - 4);

/// Listeners that make_unique_id opened and PE 0 has not taken over yet.
struct WaitingListeners {
  struct Entry {
    Token token;
    base::UniqueFd socket;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

/// Never destroyed: threads may call until the process ends.
WaitingListeners& waiting_listeners() {
  static WaitingListeners& all = *new WaitingListeners;
  return all;
}

base::UniqueFd take_listener(const Token& token) {
  WaitingListeners& waiting = waiting_listeners();
  const std::lock_guard lock(waiting.mutex);
  for (auto entry = waiting.entries.begin(); entry != waiting.entries.end(); ++entry) {
    if (!secret::are_equal(entry->token, token)) continue;
    base::UniqueFd socket = std::move(entry->socket);
    waiting.entries.erase(entry);
    return socket;
  }
  return {};
}

UniqueId pack(const TcpAddress& address, const Token& token) {
  UniqueIdContent content;
  std::memcpy(content.magic, unique_id_magic, sizeof content.magic);
  content.family = static_cast<std::uint16_t>(address.family());
  content.port = address.port();
  content.token = token;
  if (address.family() == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address.get());
    std::memcpy(content.address, &v4->sin_addr, sizeof v4->sin_addr);
  } else {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.get());
    std::memcpy(content.address, &v6->sin6_addr, sizeof v6->sin6_addr);
    content.scope = v6->sin6_scope_id;
  }
  UniqueId id;
  std::memcpy(id.bytes, &content, sizeof content);
  return id;
}

base::Result<TcpAddress> address_in(const UniqueIdContent& content) {
  const bool is_ours = std::memcmp(content.magic, unique_id_magic, sizeof content.magic) == 0;
  if (is_ours && content.family == AF_INET) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(content.port);
    std::memcpy(&v4.sin_addr, content.address, sizeof v4.sin_addr);
    return TcpAddress(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
  }
  if (is_ours && content.family == AF_INET6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(content.port);
    v6.sin6_scope_id = content.scope;
    std::memcpy(&v6.sin6_addr, content.address, sizeof v6.sin6_addr);
    return TcpAddress(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
  }
  return base::fail(EINVAL,
                    "cannot join the job: the unique id is invalid; copy all %zu bytes of the id from PE 0's process",
                    unique_id_bytes);
}

}  // namespace

base::Result<UniqueId> make_unique_id() noexcept try {
  const char* const interface = std::getenv("GDRKIT_SHMEM_INTERFACE");
  const auto token = make_token();
  if (!token) return base::pass(token);
  const auto requested = address_of_interface(interface == nullptr ? "" : interface);
  if (!requested) return base::pass(requested);
  auto listener = listen_at(*requested);
  if (!listener) return base::pass(listener);
  const auto address = address_of(listener->get());
  if (!address) return base::pass(address);
  WaitingListeners& waiting = waiting_listeners();
  const std::lock_guard lock(waiting.mutex);
  waiting.entries.push_back({*token, std::move(*listener)});
  return pack(*address, *token);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while creating a unique id");
}

base::Status release_unique_id(const UniqueId& id) noexcept {
  UniqueIdContent content;
  std::memcpy(&content, id.bytes, sizeof content);
  if (take_listener(content.token)) return {};
  return base::fail_literal(EINVAL,
                            "cannot release the unique id: PE 0 has used the id, or another process created the id");
}

base::Result<std::unique_ptr<Exchange>> exchange_by_unique_id(const UniqueId& id, int pe, int n_pes,
                                                              std::chrono::milliseconds limit) noexcept try {
  if (auto fits = check_pe(pe, n_pes); !fits) return base::pass(fits);
  UniqueIdContent content;
  std::memcpy(&content, id.bytes, sizeof content);
  const auto address = address_in(content);
  if (!address) return base::pass(address);
  if (pe != 0) return connect_to_pe_0({*address}, true, secret_of(content.token), pe, n_pes, limit);
  base::UniqueFd listener = take_listener(content.token);
  if (!listener) {
    return base::fail(
        EINVAL,
        "cannot start PE 0 at %s: another process created the unique id, or the id was used before; create a "
        "new id in PE 0's process",
        address->text().c_str());
  }
  return listen_for_pes(std::move(listener), address->text(), secret_of(content.token), n_pes, limit);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while joining the job");
}

}  // namespace gdrkit::shmem_impl::bootstrap
