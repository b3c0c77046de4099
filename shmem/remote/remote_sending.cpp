// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Creates endpoints at the first message, and sends messages.
#include <sched.h>

#include <cstring>
#include <new>

#include "shmem/remote/remote.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

constexpr std::chrono::milliseconds letting_go{500};

}  // namespace

Peer& Remote::peer(int pe) {
  auto& one = peers_[static_cast<std::size_t>(pe)];
  if (!one) {
    one = std::make_unique<Peer>();
    one->key_to = keys_.of(pe_, pe);
    one->key_from = keys_.of(pe, pe_);
  }
  return *one;
}

base::Result<Peer*> Remote::connected(int pe) noexcept try {
  Peer& to = peer(pe);
  if (to.failure != platform::ucx_ok) {
    return transfer_failure("connection", pe, to.failure);
  }
  if (to.endpoint != nullptr) return &to;
  auto made = worker_->connect(addresses_.data() + static_cast<std::size_t>(pe) * address_stride_, &on_error, this);
  if (!made) {
    return base::fail_vendor(made.error().errno_value, made.error().vendor_code,
                             "cannot connect to PE %d: %s; UCX_LOG_LEVEL=info prints UCX's log", pe,
                             made.error().text());
  }
  to.endpoint = *made;
  return &to;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while connecting to a PE of another node");
}

RemoteMessage Remote::message_of(RemoteMessageKind kind) const noexcept {
  RemoteMessage message;
  message.kind = kind;
  message.from = pe_;
  return message;
}

RemoteMessage Remote::next_message(Peer& to, RemoteMessageKind kind) const noexcept {
  RemoteMessage message = message_of(kind);
  message.number = to.sent + 1;
  return message;
}

Remote::Outgoing* Remote::new_outgoing() {
  if (free_outgoing_.empty()) {
    free_outgoing_.reserve(all_outgoing_.size() + 1);  // so that recycle() need not allocate
    all_outgoing_.push_back(std::make_unique<Outgoing>());
    all_outgoing_.back()->remote = this;
    free_outgoing_.push_back(all_outgoing_.back().get());
  }
  Outgoing* const one = free_outgoing_.back();
  free_outgoing_.pop_back();
  one->status = platform::ucx_in_progress;
  one->is_waited_for = false;
  return one;
}

void Remote::recycle(Outgoing* outgoing) noexcept {
  kept_bytes_ -= outgoing->data.size();
  outgoing->data = {};
  free_outgoing_.push_back(outgoing);
}

void Remote::on_sent(void* request, platform::UcxStatus status, void* argument) noexcept {
  auto* const outgoing = static_cast<Outgoing*>(argument);
  Remote& self = *outgoing->remote;
  outgoing->status = status;
  self.calls_->request_free(request);
  if (!outgoing->is_waited_for) self.recycle(outgoing);
}

tl::unexpected<base::Error> Remote::transfer_failure(const char* what, int pe,
                                                     platform::UcxStatus status) const noexcept {
  const int errno_value = errno_of_ucx(status);
  const char* const text = calls_->status_string(status);
  if (errno_value == ECONNRESET) {
    // That one may have ended because of another's death, which is the one to name.
    if (const int dead = first_dead(); dead >= 0 && dead != pe) {
      return base::fail_vendor(ECONNRESET, status, "%s: PE %d %s", what, dead, why_dead());
    }
    return base::fail_vendor(ECONNRESET, status, "%s: PE %d has ended or is unreachable (UCX: %s)", what, pe, text);
  }
  return base::fail_vendor(errno_value, status, "%s: UCX failed for PE %d: %s", what, pe, text);
}

base::Result<Remote::Outgoing*> Remote::check_started(Outgoing* outgoing, void* ucx_result, const char* what,
                                                      int pe) noexcept {
  if (platform::ucx_is_request(ucx_result)) return outgoing;
  const platform::UcxStatus status = platform::ucx_status_of(ucx_result);
  recycle(outgoing);
  if (status != platform::ucx_ok) return transfer_failure(what, pe, status);
  return nullptr;
}

base::Result<Remote::Outgoing*> Remote::send(int pe, const RemoteMessage& message, const void* data,
                                             std::size_t size_bytes) {
  Peer& to = peer(pe);
  Outgoing* const outgoing = new_outgoing();
  std::size_t block_bytes = write_header(message, outgoing->block);
  if (size_bytes != 0 && size_bytes <= small_bytes) {
    std::memcpy(outgoing->block + block_bytes, data, size_bytes);
    block_bytes += size_bytes;
    size_bytes = 0;
  }
  write_tag(to.key_to, {outgoing->block, block_bytes});
  platform::UcxRequestParams params;
  params.field_mask = platform::ucx_request_callback | platform::ucx_request_user_data | platform::ucx_request_flags;
  params.flags = platform::ucx_message_eager;
  params.callback = &on_sent;
  params.user_data = outgoing;
  void* const result = calls_->am_send_nbx(to.endpoint, UcxWorker::message_id, outgoing->block, block_bytes,
                                           size_bytes == 0 ? nullptr : data, size_bytes, &params);
  auto started = check_started(outgoing, result, "message", pe);
  if (started && message.number != 0) to.sent = message.number;
  return started;
}

base::Status Remote::send_kept(int pe, const RemoteMessage& message, std::vector<char> data) {
  auto to = connected(pe);
  if (!to) return base::pass(to);
  auto sent = send(pe, message, data.data(), data.size());
  if (!sent) return base::pass(sent);
  if (*sent != nullptr) keep(**sent, std::move(data));
  return {};
}

void Remote::keep(Outgoing& sent, std::vector<char> data) noexcept {
  kept_bytes_ += data.size();
  sent.data = std::move(data);  // the bytes themselves stay where they are
}

base::Status Remote::send_small(int pe, const RemoteMessage& message, const void* data, std::size_t size_bytes) {
  const auto* const bytes = static_cast<const char*>(data);
  if (size_bytes > small_bytes) return send_kept(pe, message, std::vector<char>(bytes, bytes + size_bytes));
  auto to = connected(pe);
  if (!to) return base::pass(to);
  return base::status_of(send(pe, message, data, size_bytes));
}

base::Status Remote::wait_sent(Lock& lock, Outgoing* outgoing, int pe, const char* what) noexcept {
  if (outgoing == nullptr) return {};
  outgoing->is_waited_for = true;
  auto waited = wait(lock, what, pe, [=] { return outgoing->status != platform::ucx_in_progress; });
  // After UCX has closed the connection it no longer accesses the caller's memory.
  for (const auto end = Clock::now() + letting_go;
       !waited && outgoing->status == platform::ucx_in_progress && Clock::now() < end;) {
    if (worker_->progress() == 0) ::sched_yield();
  }
  if (!waited) {
    outgoing->is_waited_for = false;  // recycled when UCX has completed it
    if (outgoing->status != platform::ucx_in_progress) recycle(outgoing);
    return waited;
  }
  const platform::UcxStatus status = outgoing->status;
  recycle(outgoing);
  if (status == platform::ucx_ok) return {};
  return transfer_failure(what, pe, status);
}

}  // namespace gdrkit::shmem_impl::remote
