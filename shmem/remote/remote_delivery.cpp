// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Handles messages from PEs of other nodes.
//
// UCX keeps the order of messages on one lane only; message numbers restore the order over all lanes. Code that UCX
// calls must not send, so messages that need a reply wait in pending_replies_ until UCX has returned.
#include <algorithm>
#include <cstring>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {

namespace {

/// UCX never reorders messages over a distance larger than this.
constexpr std::uint64_t most_early = std::uint64_t{1} << 20;

secret::Bytes as_bytes(const void* data, std::size_t size_bytes) noexcept {
  return {static_cast<const std::uint8_t*>(data), size_bytes};
}

}  // namespace

/// Whether `from` sent the message. Callers must not use any other field before this check.
bool Remote::is_genuine(const DecodedMessage& decoded) {
  return has_right_tag(peer(decoded.message.from).key_from, decoded);
}

void Remote::receive_rendezvous(const void* header, std::size_t header_bytes) noexcept try {
  const auto decoded = decode_message(as_bytes(header, header_bytes), {}, pe_, n_pes_);
  if (decoded && is_genuine(*decoded))
    declare_dead(-1, "received a UCX rendezvous message, which gdrkit does not support");
} catch (...) {
  // The message was not authentic, or the next wait of this PE times out because of the loss.
}

void Remote::receive(const void* header, std::size_t header_bytes, const void* data, std::size_t size_bytes) noexcept
    try {
  const auto decoded = decode_message(as_bytes(header, header_bytes), as_bytes(data, size_bytes), pe_, n_pes_);
  // A message that is not authentic is dropped: it must not end the job.
  if (!decoded || !is_genuine(*decoded)) return;
  const RemoteMessage& message = decoded->message;
  if (!has_sound_fields(*decoded, n_pes_))
    return declare_dead(message.from, "sent an invalid message and was excluded");
  const auto* const bytes = reinterpret_cast<const char*>(decoded->data.data());
  size_bytes = decoded->data.size();
  if (message.kind > last_in_order) {
    if (message.from == watched_) has_heartbeat_ = true;
    return handle_at_once(message, bytes, size_bytes);
  }
  Peer& from = peer(message.from);
  if (message.number <= from.received) return;
  if (message.from == watched_) has_heartbeat_ = true;
  if (message.number != from.received + 1) {
    if (message.number - from.received > most_early) {
      return declare_dead(message.from, "sent an invalid message and was excluded");
    }
    from.early.try_emplace(message.number, EarlyMessage{message, std::vector<char>(bytes, bytes + size_bytes)});
    return;
  }
  from.received = message.number;
  handle_in_order(from, message, bytes, size_bytes);
  for (auto next = from.early.begin(); next != from.early.end() && next->first == from.received + 1;) {
    from.received = next->first;
    handle_in_order(from, next->second.message, next->second.data.data(), next->second.data.size());
    next = from.early.erase(next);
  }
} catch (...) {
  // A message is lost, so all later messages are invalid, too.
  declare_dead(pe_, "ran out of memory for messages of other PEs");
}

/// Returns nullptr if this PE does not expect such a reply from that PE.
Remote::Request* Remote::request_of(const RemoteMessage& reply) noexcept {
  const auto found = requests_.find(reply.request);
  if (found == requests_.end()) return nullptr;
  Request& request = *found->second;
  const bool is_awaited = request.pe == reply.from && request.reply_kind == reply.kind && !request.is_done;
  return is_awaited ? &request : nullptr;
}

void Remote::note_undelivered(Peer& from, const base::Status& done) {
  if (done || from.undelivered != 0) return;
  from.undelivered = done.error().errno_value;
  from.why_undelivered = done.error().text();
}

base::Status Remote::deliver_put(const RemoteMessage& message, const char* data, std::size_t size_bytes) noexcept {
  if (own_heap_ == nullptr) return base::fail_literal(EAGAIN, "its heap does not exist yet or has been freed");
  auto address = own_heap_->address_of(message.offset, size_bytes);
  if (!address) return base::pass(address);
  return own_heap_->write(*address, data, size_bytes);
}

base::Status Remote::deliver_update(const RemoteMessage& message, std::uint64_t* old) noexcept {
  if (own_heap_ == nullptr) return base::fail_literal(EAGAIN, "its heap does not exist yet or has been freed");
  auto address = own_heap_->address_of(message.offset, message.word_bytes);
  if (!address) return base::pass(address);
  return own_heap_->update(*address, message.word_bytes, message.operation, message.operand, message.compare, old);
}

void Remote::handle_in_order(Peer& from, const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  switch (message.kind) {
    case RemoteMessageKind::put:
      note_undelivered(from, deliver_put(message, data, size_bytes));
      if (message.operation == put_and_flush) pending_replies_.push_back({message.from, message});
      return;
    case RemoteMessageKind::update: {
      if (message.request == 0) return note_undelivered(from, deliver_update(message, nullptr));
      // The operation is performed now, to keep the order; the reply is sent later.
      std::uint64_t old = 0;
      auto done = deliver_update(message, &old);
      PendingReply pending{message.from, message};
      pending.message.compare = old;
      pending.message.other = done ? 0 : done.error().errno_value;
      pending_replies_.push_back(pending);
      return;
    }
    case RemoteMessageKind::allgather: return allgather_messages_.add(message, data, size_bytes);
    default: pending_replies_.push_back({message.from, message});
  }
}

void Remote::handle_at_once(const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  switch (message.kind) {
    case RemoteMessageKind::data: return take_data(message, data, size_bytes);
    case RemoteMessageKind::key: return take_key(message, data, size_bytes);
    case RemoteMessageKind::value:
      if (Request* const request = request_of(message); request != nullptr) {
        request->value = message.operand;
        request->errno_value = message.other;
        request->text.assign(data, size_bytes);
        request->is_done = true;
        if (!request->is_async) return;
        std::memcpy(request->target, &request->value, sizeof request->value);
        end_async(peer(message.from), message.request);
      }
      return;
    case RemoteMessageKind::acknowledge: {
      Peer& from = peer(message.from);
      if (message.operand > from.sent)
        return declare_dead(message.from, "acknowledged an unsent message and was excluded");
      from.acknowledged = std::max(from.acknowledged, message.operand);
      if (message.other != 0 && from.rejected == 0) {
        from.rejected = message.other;
        from.rejection.assign(data, size_bytes);
      }
      return;
    }
    case RemoteMessageKind::death:
      return declare_dead(message.other, "has ended or was excluded from the job; see the error messages of all PEs");
    default: return;  // a heartbeat, noted already
  }
}

void Remote::take_data(const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  Request* const awaiting = request_of(message);
  if (awaiting == nullptr) return;
  Request& request = *awaiting;
  const std::size_t piece = std::min(request.size_bytes - std::min(request.size_bytes, message.offset), piece_bytes);
  if (message.size_bytes != piece || piece == 0 || message.offset % piece_bytes != 0) {
    return declare_dead(message.from, "sent a reply of the wrong size or offset and was excluded");
  }
  // A duplicate, such as a recorded and replayed message, is ignored.
  if (request.pieces[message.offset / piece_bytes]) return;
  request.pieces[message.offset / piece_bytes] = true;
  base::Status done;
  if (message.other != 0) {
    done = base::fail(message.other, "%.*s", static_cast<int>(size_bytes), data);
  } else if (request.is_device) {
    done = own_heap_->write(reinterpret_cast<std::uint64_t>(request.target) + message.offset, data, size_bytes);
  } else {
    std::memcpy(request.target + message.offset, data, size_bytes);
  }
  if (!done && request.errno_value == 0) {
    request.errno_value = done.error().errno_value;
    request.text = done.error().text();
  }
  request.missing_bytes -= message.size_bytes;
  request.is_done = request.missing_bytes == 0;
  if (request.is_done && request.is_device && request.errno_value == 0) {
    if (auto there = own_heap_->complete(); !there) request.errno_value = there.error().errno_value;
  }
  if (request.is_done && request.is_async) end_async(peer(message.from), message.request);
}

void Remote::end_async(Peer& from, std::uint64_t id) {
  const Request& request = *requests_.find(id)->second;
  if (request.errno_value != 0 && from.rejected == 0) {
    from.rejected = request.errno_value;
    from.rejection = request.text;
  }
  --from.gets;
  requests_.erase(id);
}

void Remote::send_replies() noexcept {
  while (!pending_replies_.empty()) {
    const PendingReply pending = pending_replies_.front();
    pending_replies_.pop_front();
    try {
      reply(pending);
    } catch (const std::bad_alloc&) {
      declare_dead(pe_, "ran out of memory for replies to other PEs");
    }
  }
}

void Remote::reply(const PendingReply& pending) {
  const RemoteMessage& request = pending.message;
  switch (request.kind) {
    case RemoteMessageKind::get: return reply_to_get(pending);
    case RemoteMessageKind::key_request: return reply_with_key(pending);
    case RemoteMessageKind::update: {
      RemoteMessage value = message_of(RemoteMessageKind::value);
      value.request = request.request;
      value.operand = request.compare;
      value.other = request.other;
      (void)send_small(pending.pe, value);
      return;
    }
    default: break;
  }
  // A flush, or a put that is one.
  Peer& from = peer(pending.pe);
  note_undelivered(from, own_heap_ != nullptr ? own_heap_->complete() : base::Status());
  RemoteMessage done = message_of(RemoteMessageKind::acknowledge);
  done.operand = request.number;
  done.other = from.undelivered;
  const std::string text = from.why_undelivered.substr(0, small_bytes);
  from.undelivered = 0;
  from.why_undelivered.clear();
  (void)send_small(pending.pe, done, text.data(), text.size());
}

void Remote::reply_to_get(const PendingReply& pending) {
  const RemoteMessage& request = pending.message;
  RemoteMessage message = message_of(RemoteMessageKind::data);
  message.request = request.request;
  message.offset = request.operand;
  message.size_bytes = request.size_bytes;
  std::vector<char> bytes;
  base::Status done;
  if (own_heap_ == nullptr) done = base::fail_literal(EAGAIN, "its heap does not exist yet or has been freed");
  if (request.size_bytes > piece_bytes)
    done = base::fail(EPROTO, "the requested size is %llu bytes, but the limit is %zu bytes",
                      static_cast<unsigned long long>(request.size_bytes), piece_bytes);
  if (done) {
    auto address = own_heap_->address_of(request.offset, request.size_bytes);
    bytes.resize(request.size_bytes);
    done = address ? own_heap_->read(*address, bytes.data(), bytes.size()) : base::status_of(address);
  }
  if (!done) {
    message.other = done.error().errno_value;
    bytes.assign(done.error().text(), done.error().text() + std::strlen(done.error().text()));
  }
  (void)send_kept(pending.pe, message, std::move(bytes));
}

}  // namespace gdrkit::shmem_impl::remote
