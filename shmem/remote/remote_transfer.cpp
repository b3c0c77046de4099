// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts, gets and updates of the memory of PEs on other nodes, by messages.
#include <algorithm>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

/// Limit of outstanding get data per caller, which limits the replies queued at the other PE.
constexpr std::size_t most_requested_bytes = std::size_t{2} << 20;
/// Bytes of puts that wait in UCX.
constexpr std::size_t most_kept_bytes = std::size_t{4} << 20;

tl::unexpected<base::Error> no_memory() noexcept {
  return base::fail_literal(ENOMEM, "out of memory while sending data to another node");
}

}  // namespace

void Remote::mark_dirty(Peer& to, int pe) {
  // A PE that is in the list already has something that is not flushed.
  if (to.is_dirty) return;
  dirty_.push_back(pe);
  to.is_dirty = true;
}

/// UCX reads the data until it has sent it or closed the connection, which may be long after a failed call. So it reads
/// copies.
base::Status Remote::put(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes) noexcept try {
  const auto* const bytes = static_cast<const char*>(source);
  for (std::size_t at = 0; at < size_bytes; at += piece_bytes) {
    const std::size_t piece = std::min(size_bytes - at, piece_bytes);
    if (piece <= small_bytes) {
      if (auto sent = put_piece(pe, offset + at, bytes + at, piece, nullptr); !sent) return sent;
      continue;
    }
    if (auto sent = put_kept(pe, offset + at, std::vector<char>(bytes + at, bytes + at + piece)); !sent) return sent;
  }
  return {};
} catch (const std::bad_alloc&) {
  return no_memory();
}

base::Status Remote::put_kept(int pe, std::uint64_t offset, std::vector<char> data) noexcept try {
  return put_piece(pe, offset, data.data(), data.size(), &data);
} catch (const std::bad_alloc&) {
  return no_memory();
}

base::Status Remote::put_piece(int pe, std::uint64_t offset, const char* data, std::size_t size_bytes,
                               std::vector<char>* kept) {
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::pass(to);
  if (kept_bytes_ > most_kept_bytes) {
    auto room = wait(entered.lock, "put", pe, [this] { return kept_bytes_ <= most_kept_bytes; });
    if (!room) return room;
  }
  RemoteMessage message = next_message(**to, RemoteMessageKind::put);
  message.offset = offset;
  if (size_bytes > small_bytes) message.size_bytes = size_bytes;
  // A put followed by a quiet is the most frequent case. It requires one message in each direction.
  const bool is_flush = (*to)->flushes_each && (*to)->unflushed == 0;
  if (is_flush) message.operation = put_and_flush;
  mark_dirty(**to, pe);
  auto sent = send(pe, message, data, size_bytes);
  if (!sent) return base::pass(sent);
  if (*sent != nullptr && kept != nullptr) keep(**sent, std::move(*kept));
  (*to)->last_write = message.number;
  if (is_flush) (*to)->last_flush = message.number;
  ++(*to)->unflushed;
  return {};
}

std::uint64_t Remote::new_request(std::unique_ptr<Request> request) {
  const std::uint64_t id = ++last_request_;
  requests_.emplace(id, std::move(request));
  return id;
}

base::Status Remote::wait_for_reply(Lock& lock, std::uint64_t id, const char* what, int pe) noexcept {
  const Request& request = *requests_.find(id)->second;
  auto waited = wait(lock, what, pe, [&] { return request.is_done; });
  if (waited && request.errno_value != 0) {
    waited = base::fail(request.errno_value, "%s: PE %d rejected the request: %s", what, pe, request.text.c_str());
  }
  return waited;
}

base::Status Remote::get(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                         bool is_async) noexcept try {
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::pass(to);
  auto made = std::make_unique<Request>();
  Request& request = *made;
  request.pe = pe;
  request.target = static_cast<char*>(target);
  request.size_bytes = request.missing_bytes = size_bytes;
  request.pieces.resize((size_bytes + piece_bytes - 1) / piece_bytes);
  request.is_device = is_device;
  const std::uint64_t id = new_request(std::move(made));
  ++(*to)->gets;
  if (is_async) mark_dirty(**to, pe);
  base::Status done;
  for (std::size_t at = 0; done && at < size_bytes; at += piece_bytes) {
    RemoteMessage message = next_message(**to, RemoteMessageKind::get);
    message.offset = offset + at;
    message.size_bytes = std::min(size_bytes - at, piece_bytes);
    message.operand = at;
    message.request = id;
    auto sent = send(pe, message, nullptr, 0);
    if (!sent) done = base::pass(sent);
    const std::size_t requested = at + message.size_bytes;
    if (!done || requested == size_bytes) break;
    done = wait(entered.lock, "get", pe, [&] {
      return request.is_done || requested - (size_bytes - request.missing_bytes) <= most_requested_bytes;
    });
  }
  if (done && is_async && !request.is_done) {
    request.is_async = true;  // the last reply completes it
    return {};
  }
  if (done) done = wait_for_reply(entered.lock, id, "get", pe);
  requests_.erase(id);
  --(*to)->gets;
  return done;
} catch (const std::bad_alloc&) {
  return no_memory();
}

base::Status Remote::update(int pe, std::uint64_t offset, std::size_t word_bytes, unsigned operation,
                            std::uint64_t operand, std::uint64_t compare, std::uint64_t* old, bool is_async) noexcept
    try {
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::pass(to);
  RemoteMessage message = next_message(**to, RemoteMessageKind::update);
  message.offset = offset;
  message.word_bytes = static_cast<std::uint8_t>(word_bytes);
  message.operation = static_cast<std::uint8_t>(operation);
  message.operand = operand;
  message.compare = compare;
  const bool is_waited_for = old != nullptr && !is_async;
  if (old != nullptr) {
    auto request = std::make_unique<Request>();
    request->pe = pe;
    request->reply_kind = RemoteMessageKind::value;
    request->target = reinterpret_cast<char*>(old);
    request->is_async = is_async;
    message.request = new_request(std::move(request));
  }
  if (!is_waited_for) mark_dirty(**to, pe);
  auto sent = send(pe, message, nullptr, 0);
  base::Status done = base::status_of(sent);
  if (done && !is_waited_for) {
    (*to)->last_write = message.number;
    if (old != nullptr) ++(*to)->gets;
    return {};
  }
  if (old == nullptr) return done;
  if (done) done = wait_for_reply(entered.lock, message.request, "atomic operation", pe);
  if (done) *old = requests_.find(message.request)->second->value;
  requests_.erase(message.request);
  return done;
} catch (const std::bad_alloc&) {
  return no_memory();
}

base::Status Remote::order(int pe) noexcept {
  Entered entered(*this);
  const auto& one = peers_[static_cast<std::size_t>(pe)];
  if (!one) return {};
  one->ordered = one->sent;
  return flush_direct(entered.lock, *one, pe);
}

bool Remote::is_pending(int pe) noexcept {
  const Entered entered(*this);
  const auto& one = peers_[static_cast<std::size_t>(pe)];
  return one && has_pending(*one);
}

bool Remote::has_pending(const Peer& to) noexcept {
  return to.acknowledged < to.last_write || to.gets != 0 || to.direct_flushed < to.direct_issued;
}

base::Status Remote::request_flush(Peer& to, int pe) noexcept try {
  if (to.unflushed != 0) to.flushes_each = to.unflushed == 1;
  to.unflushed = 0;
  if (to.acknowledged >= to.last_write || to.last_flush >= to.last_write) return {};
  const RemoteMessage message = next_message(to, RemoteMessageKind::flush);
  auto sent = send(pe, message, nullptr, 0);
  if (!sent) return base::pass(sent);
  to.last_flush = message.number;
  return {};
} catch (const std::bad_alloc&) {
  return no_memory();
}

/// Messages only. `last_write` is read first: what other threads send meanwhile is theirs.
base::Status Remote::flush_locked(Lock& lock, Peer& to, int pe) noexcept {
  const std::uint64_t last = to.last_write;
  if (to.failure != platform::ucx_ok) return check_lives("quiet", pe);
  if (auto requested = request_flush(to, pe); !requested) return requested;
  if (auto waited = wait(lock, "quiet", pe, [&] { return to.acknowledged >= last && to.gets == 0; }); !waited) {
    return waited;
  }
  return check_delivered(to, "quiet", pe);
}

base::Status Remote::check_delivered(Peer& to, const char* what, int pe) noexcept {
  if (to.rejected == 0) return {};
  auto failed = base::fail(to.rejected, "%s: PE %d could not store the data that it received: %s", what, pe,
                           to.rejection.c_str());
  to.rejected = 0;
  return failed;
}

void Remote::abandon_gets(int pe) noexcept {
  const std::size_t abandoned =
      std::erase_if(requests_, [pe](const auto& entry) { return entry.second->is_async && entry.second->pe == pe; });
  peers_[static_cast<std::size_t>(pe)]->gets -= static_cast<std::uint32_t>(abandoned);
}

base::Status Remote::flush(int pe) noexcept {
  Entered entered(*this);
  const auto& one = peers_[static_cast<std::size_t>(pe)];
  if (!one) return {};
  base::Status done = flush_direct(entered.lock, *one, pe);
  base::keep_first(done, flush_locked(entered.lock, *one, pe));
  if (!done) abandon_gets(pe);
  return done;
}

/// Requests all acknowledgements before it waits for the first.
base::Status Remote::flush_all() noexcept try {
  Entered entered(*this);
  base::Status done;
  for (const int pe : dirty_) {
    if (peers_[static_cast<std::size_t>(pe)]->failure != platform::ucx_ok) continue;
    base::keep_first(done, request_flush(*peers_[static_cast<std::size_t>(pe)], pe));
  }
  // They stay in the list until they are done: another thread's call must wait for them as well.
  const std::vector<int> dirty = dirty_;
  // The flush cannot succeed, and PEs that end because of this death may not reply.
  if (std::find(dirty.begin(), dirty.end(), first_dead()) != dirty.end()) {
    if (auto lives = check_lives("quiet", first_dead()); !lives) {
      for (const int pe : dirty) abandon_gets(pe);
      return lives;
    }
  }
  for (const int pe : dirty) {
    Peer& to = *peers_[static_cast<std::size_t>(pe)];
    base::keep_first(done, flush_direct(entered.lock, to, pe));
    base::keep_first(done, flush_locked(entered.lock, to, pe));
  }
  if (!done) {
    for (const int pe : dirty) abandon_gets(pe);
  }
  std::erase_if(dirty_, [this](int pe) {
    Peer& to = *peers_[static_cast<std::size_t>(pe)];
    const bool is_over = to.failure != platform::ucx_ok || !has_pending(to);
    if (is_over) to.is_dirty = false;
    return is_over;
  });
  return done;
} catch (const std::bad_alloc&) {
  return no_memory();
}

}  // namespace gdrkit::shmem_impl::remote
