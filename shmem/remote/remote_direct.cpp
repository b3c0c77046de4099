// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UCX's own puts and gets, between addresses. A PE registers a chunk of its heap when the first other PE requests the
// chunk's key.
#include <algorithm>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {

base::Status Remote::serves_direct(int pe) noexcept {
  if (!options_.device->is_emulated() && !worker_->supports_cuda()) {
    return base::fail_literal(
        EOPNOTSUPP, "this UCX does not support GPU memory; set GDRKIT_UCX_LIBRARY to a UCX with CUDA support");
  }
  const Entered entered(*this);
  const auto& one = peers_[static_cast<std::size_t>(pe)];
  if (!one || one->direct_refused == 0) return {};
  return base::fail(one->direct_refused, "UCX could not register the memory of PE %d", pe);
}

base::Result<RemoteChunk*> Remote::chunk_at(Lock& lock, Peer& to, int pe, std::uint64_t offset) noexcept try {
  const auto find = [&]() -> RemoteChunk* {
    for (RemoteChunk& chunk : to.chunks) {
      if (offset - chunk.offset < chunk.size_bytes) return &chunk;
    }
    return nullptr;
  };
  if (RemoteChunk* const known = find(); known != nullptr) return known;
  if (to.direct_refused != 0)
    return base::fail(EOPNOTSUPP, "cannot use direct UCX transfers: UCX could not register the memory of PE %d", pe);
  RemoteMessage message = next_message(to, RemoteMessageKind::key_request);
  message.offset = offset;
  auto request = std::make_unique<Request>();
  request->pe = pe;
  request->reply_kind = RemoteMessageKind::key;
  request->offset = offset;
  message.request = new_request(std::move(request));
  auto sent = send(pe, message, nullptr, 0);
  auto replied = sent ? wait_for_reply(lock, message.request, "access to a symmetric heap", pe) : base::status_of(sent);
  requests_.erase(message.request);
  if (!replied && replied.error().errno_value != ECONNRESET && replied.error().errno_value != ETIMEDOUT) {
    to.direct_refused = replied.error().errno_value;
    return base::fail(EOPNOTSUPP, "%s", replied.error().text());
  }
  if (!replied) return base::pass(replied);
  if (RemoteChunk* const made = find(); made != nullptr) return made;
  return base::fail(EPROTO, "PE %d sent a UCX key of the wrong memory; use one release of gdrkit for all PEs", pe);
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while connecting to the symmetric heap of a PE");
}

void Remote::reply_with_key(const PendingReply& pending) {
  const platform::UcxCalls& calls = *calls_;
  RemoteMessage message = message_of(RemoteMessageKind::key);
  message.request = pending.message.request;
  base::Status done;
  void* packed = nullptr;
  std::size_t packed_bytes = 0;
  base::Result<OwnChunk> chunk = base::fail_literal(EAGAIN, "its heap does not exist yet");
  if (own_heap_ != nullptr) chunk = own_heap_->chunk_of(pending.message.offset);
  // This PE's UCX then accepts no puts and gets.
  if (!worker_->is_direct()) {
    if (!options_.device->is_emulated() && !worker_->supports_cuda()) {
      chunk = base::fail_literal(EOPNOTSUPP,
                                 "its UCX does not support GPU memory; set GDRKIT_SHMEM_REMOTE=staged for all PEs");
    } else {
      chunk = base::fail_literal(EOPNOTSUPP,
                                 "its direct transfers are disabled; set GDRKIT_SHMEM_REMOTE=direct for all PEs");
    }
  }
  auto memory = chunk ? registered(*chunk) : base::Result<platform::UcxMemory*>(base::pass(chunk));
  if (!memory) {
    done = base::pass(memory);
  } else if (const auto status = calls.rkey_pack(worker_->context(), *memory, &packed, &packed_bytes);
             status != platform::ucx_ok) {
    done = ucx_failure(calls, "ucp_rkey_pack", status);
  }
  std::vector<char> bytes;
  if (done) {
    message.offset = chunk->offset;
    message.size_bytes = chunk->size_bytes;
    message.operand = chunk->address;
    bytes.assign(static_cast<const char*>(packed), static_cast<const char*>(packed) + packed_bytes);
    calls.rkey_buffer_release(packed);
  } else {
    message.other = done.error().errno_value;
    const std::string text = done.error().text();
    bytes.assign(text.begin(), text.end());
  }
  (void)send_kept(pending.pe, message, std::move(bytes));
}

base::Result<platform::UcxMemory*> Remote::registered(const OwnChunk& chunk) {
  for (std::size_t i = 0; i < registered_.size(); ++i) {
    if (registered_chunks_[i].offset == chunk.offset) return registered_[i];
  }
  registered_.reserve(registered_.size() + 1);
  registered_chunks_.reserve(registered_chunks_.size() + 1);
  platform::UcxMemoryParams params;
  params.field_mask = platform::ucx_memory_address | platform::ucx_memory_length | platform::ucx_memory_type;
  params.address = reinterpret_cast<void*>(chunk.address);
  params.size_bytes = chunk.size_bytes;
  params.memory_type = options_.device->is_emulated() ? platform::ucx_memory_host : platform::ucx_memory_cuda;
  platform::UcxMemory* memory = nullptr;
  const auto status = calls_->mem_map(worker_->context(), &params, &memory);
  if (status != platform::ucx_ok) return ucx_failure(*calls_, "ucp_mem_map of the symmetric heap", status);
  registered_.push_back(memory);
  registered_chunks_.push_back(chunk);
  return memory;
}

void Remote::take_key(const RemoteMessage& message, const char* data, std::size_t size_bytes) {
  Request* const awaiting = request_of(message);
  if (awaiting == nullptr) return;
  Request& request = *awaiting;
  request.is_done = true;
  request.errno_value = message.other;
  if (message.other != 0) {
    request.text.assign(data, size_bytes);
    return;
  }
  if (size_bytes == 0 || request.offset - message.offset >= message.size_bytes) {
    return declare_dead(message.from,
                        "sent an invalid UCX key and was excluded; use one release of gdrkit for all PEs");
  }
  Peer& from = peer(message.from);
  RemoteChunk chunk{message.offset, message.size_bytes, message.operand, nullptr};
  from.chunks.reserve(from.chunks.size() + 1);
  const std::vector<char> packed(data, data + size_bytes);
  const auto status = calls_->ep_rkey_unpack(from.endpoint, packed.data(), &chunk.key);
  if (status != platform::ucx_ok) {
    request.errno_value = errno_of_ucx(status);
    request.text = std::string("ucp_ep_rkey_unpack: ") + calls_->status_string(status);
    return;
  }
  from.chunks.push_back(chunk);
}

base::Status Remote::put_direct(int pe, std::uint64_t offset, const void* source, std::size_t size_bytes,
                                bool is_device, bool is_async) noexcept {
  return transfer_direct(pe, offset, static_cast<char*>(const_cast<void*>(source)), size_bytes, true, is_device,
                         is_async);
}

base::Status Remote::get_direct(int pe, std::uint64_t offset, void* target, std::size_t size_bytes, bool is_device,
                                bool is_async) noexcept {
  return transfer_direct(pe, offset, static_cast<char*>(target), size_bytes, false, is_device, is_async);
}

base::Status Remote::transfer_direct(int pe, std::uint64_t offset, char* local, std::size_t size_bytes, bool is_put,
                                     bool is_device, bool is_async) noexcept try {
  const char* const what = is_put ? "put" : "get";
  Entered entered(*this);
  auto to = connected(pe);
  if (!to) return base::pass(to);
  // A direct transfer could overtake earlier messages that a fence orders before it.
  if ((*to)->acknowledged < std::min((*to)->ordered, (*to)->last_write)) {
    if (auto flushed = flush_locked(entered.lock, **to, pe); !flushed) return flushed;
  }
  mark_dirty(**to, pe);
  platform::UcxRequestParams params;
  params.field_mask =
      platform::ucx_request_callback | platform::ucx_request_user_data | platform::ucx_request_memory_type;
  params.callback = &on_sent;
  params.memory_type =
      is_device && !options_.device->is_emulated() ? platform::ucx_memory_cuda : platform::ucx_memory_host;
  for (std::size_t at = 0; at < size_bytes;) {
    auto chunk = chunk_at(entered.lock, **to, pe, offset + at);
    if (!chunk) return base::pass(chunk);
    const std::uint64_t inside = offset + at - (*chunk)->offset;
    const std::size_t piece = std::min<std::size_t>(size_bytes - at, (*chunk)->size_bytes - inside);
    Outgoing* const outgoing = new_outgoing();
    params.user_data = outgoing;
    const platform::UcxCalls& calls = *calls_;
    const std::uint64_t there = (*chunk)->address + inside;
    void* const result = is_put ? calls.put_nbx((*to)->endpoint, local + at, piece, there, (*chunk)->key, &params)
                                : calls.get_nbx((*to)->endpoint, local + at, piece, there, (*chunk)->key, &params);
    auto started = check_started(outgoing, result, what, pe);
    if (!started) return base::pass(started);
    if (is_put || is_async) ++(*to)->direct_issued;  // a get that was waited for is there
    if (!is_async) {
      if (auto sent = wait_sent(entered.lock, *started, pe, what); !sent) return sent;
    }
    at += piece;
  }
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while sending data to another node");
}

base::Status Remote::flush_direct(Lock& lock, Peer& to, int pe) noexcept try {
  if (to.direct_flushed >= to.direct_issued) return {};
  if (to.failure != platform::ucx_ok) return check_lives("quiet", pe);
  const std::uint64_t issued = to.direct_issued;
  Outgoing* const outgoing = new_outgoing();
  platform::UcxRequestParams params;
  params.field_mask = platform::ucx_request_callback | platform::ucx_request_user_data;
  params.callback = &on_sent;
  params.user_data = outgoing;
  auto started = check_started(outgoing, calls_->ep_flush_nbx(to.endpoint, &params), "quiet", pe);
  if (!started) return base::pass(started);
  if (auto flushed = wait_sent(lock, *started, pe, "quiet"); !flushed) return flushed;
  to.direct_flushed = std::max(to.direct_flushed, issued);
  return {};
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while waiting for data");
}

/// For memory that is freed before the heap.
void Remote::forget(std::uint64_t offset) noexcept {
  const Entered entered(*this);
  for (auto& one : peers_) {
    if (!one) continue;
    std::erase_if(one->chunks, [&](const RemoteChunk& chunk) {
      if (chunk.offset != offset) return false;
      calls_->rkey_destroy(chunk.key);
      return true;
    });
  }
  for (std::size_t i = 0; i < registered_.size(); ++i) {
    if (registered_chunks_[i].offset != offset) continue;
    (void)calls_->mem_unmap(worker_->context(), registered_[i]);
    registered_.erase(registered_.begin() + static_cast<std::ptrdiff_t>(i));
    registered_chunks_.erase(registered_chunks_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

}  // namespace gdrkit::shmem_impl::remote
