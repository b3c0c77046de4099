// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/connection_manager.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace platform;

/// perftest's receives have the size of its address record. Longer messages between gdrkit's ends are split.
constexpr std::size_t cm_part_bytes = 56;
constexpr std::uint64_t cm_receives = 4;
constexpr std::uint64_t cm_send_id = cm_receives;
constexpr std::uint64_t polls_per_check = 256;
constexpr auto time_for_the_end = std::chrono::milliseconds(2000);

/// The exchange by sends over a separate queue pair that rdma_cm connects, as with perftest's -z and -R.
class CmWire : public Wire {
 public:
  CmWire(const Endpoint& endpoint, ConnectionManager* manager, bool is_client, std::chrono::seconds limit);
  /// A server waits for its client without a limit.
  void connect();

  void send(const void* bytes, std::size_t size_bytes, const std::string& step) override;
  void receive(void* bytes, std::size_t size_bytes, const std::string& step) override;
  [[nodiscard]] bool has_message(const std::string& step) override;
  void end() noexcept override;
  [[nodiscard]] bool is_rdma_cm() const noexcept override { return true; }

 private:
  void make_pair();
  void post_receive(std::uint64_t slot);
  /// Takes completions. Throws Failure if a request failed or the connection has ended.
  void poll(const std::string& step);

  const Endpoint& endpoint_;
  ConnectionManager& manager_;
  std::vector<std::uint8_t> slots_;  ///< of receives, followed by one to send from
  Held<platform::VerbsRegion> region_;
  Held<platform::VerbsCompletionQueue> queue_;
  Held<platform::VerbsQueuePair> pair_;
  struct Message {
    std::uint64_t slot;
    std::size_t size_bytes;
  };
  std::deque<Message> arrived_;
  std::uint64_t sent_ = 0;
  std::uint64_t polls_ = 0;
};

CmWire::CmWire(const Endpoint& endpoint, ConnectionManager* manager, bool is_client, std::chrono::seconds limit)
    : Wire(manager->peer(), is_client, limit),
      endpoint_(endpoint),
      manager_(*manager),
      slots_(cm_part_bytes * (cm_receives + 1)) {}

void CmWire::connect() {
  make_pair();
  const auto modify = [this](platform::VerbsPairState* state, int mask, const char* name) {
    endpoint_.modify(pair_.get(), state, mask, "the exchange", name);
    // Posted before the other end can send.
    for (std::uint64_t slot = 0; state->state == verbs_state_init && slot < cm_receives; ++slot) post_receive(slot);
  };
  manager_.connect({pair_->number, 0, modify}, is_client() ? limit_ : std::chrono::seconds(0), "connection setup");
  peer_ = manager_.peer();
}

void CmWire::make_pair() {
  const Verbs& verbs = endpoint_.verbs();
  errno = 0;
  region_ = {verbs.data->reg_mr(endpoint_.domain(), slots_.data(), slots_.size(), platform::verbs_access_local_write),
             {verbs.control->dereg_mr}};
  if (region_ == nullptr)
    fail_call("cannot register memory (ibv_reg_mr) for the exchange on " + endpoint_.device(), errno);
  errno = 0;
  queue_ = {verbs.data->create_cq(endpoint_.context(), static_cast<int>(cm_receives) + 1, nullptr, nullptr, 0),
            {verbs.data->destroy_cq}};
  if (queue_ == nullptr)
    fail_call("cannot create a completion queue (ibv_create_cq) for the exchange on " + endpoint_.device(), errno);
  VerbsPairRequest request;
  request.send_queue = request.receive_queue = queue_.get();
  request.limits.max_sends = request.limits.max_send_elements = request.limits.max_receive_elements = 1;
  request.limits.max_receives = static_cast<std::uint32_t>(cm_receives);
  request.signals_all = 1;
  errno = 0;
  pair_ = {verbs.data->create_qp(endpoint_.domain(), &request), {verbs.data->destroy_qp}};
  if (pair_ == nullptr)
    fail_call("cannot create a queue pair (ibv_create_qp) for the exchange on " + endpoint_.device(), errno);
}

void CmWire::post_receive(std::uint64_t slot) {
  platform::VerbsElement element{reinterpret_cast<std::uint64_t>(slots_.data() + slot * cm_part_bytes), cm_part_bytes,
                                 region_->lkey};
  platform::VerbsReceive request;
  request.id = slot;
  request.elements = &element;
  request.element_count = 1;
  platform::VerbsReceive* bad = nullptr;
  if (const int error = endpoint_.context()->post_receive(pair_.get(), &request, &bad); error != 0) {
    fail_call("cannot post a receive request (ibv_post_recv) for the exchange on " + endpoint_.device(), error);
  }
}

void CmWire::poll(const std::string& step) {
  platform::VerbsCompletion completion;
  const int count = endpoint_.context()->poll(queue_.get(), 1, &completion);
  if (count < 0)
    fail_call("cannot poll the completion queue (ibv_poll_cq) of the exchange on " + endpoint_.device(), errno);
  if (count == 0) {
    if (++polls_ % polls_per_check != 0) return;
    ::sched_yield();
    if (!manager_.has_ended()) return;
    // Sends posted before the end have completed before it.
    if (endpoint_.context()->poll(queue_.get(), 1, &completion) <= 0) lost(step, "has ended the connection");
  }
  if (completion.status != 0) {
    lost(step, std::string("cannot be reached (") + endpoint_.verbs().data->status_text(completion.status) + ")");
  }
  if (completion.id == cm_send_id) {
    ++sent_;
  } else {
    arrived_.push_back({completion.id, completion.size_bytes});
  }
}

void CmWire::send(const void* bytes, std::size_t size_bytes, const std::string& step) {
  const auto until = end_of_limit();
  const auto* at = static_cast<const std::uint8_t*>(bytes);
  std::uint8_t* const slot = slots_.data() + cm_send_id * cm_part_bytes;
  while (size_bytes > 0) {
    const std::size_t part = std::min(size_bytes, cm_part_bytes);
    std::memcpy(slot, at, part);
    platform::VerbsElement element{reinterpret_cast<std::uint64_t>(slot), static_cast<std::uint32_t>(part),
                                   region_->lkey};
    platform::VerbsSend request;
    request.id = cm_send_id;
    request.elements = &element;
    request.element_count = 1;
    request.operation = verbs_send;
    request.flags = verbs_signaled;
    platform::VerbsSend* bad = nullptr;
    const std::uint64_t before = sent_;
    if (const int error = endpoint_.context()->post_send(pair_.get(), &request, &bad); error != 0) {
      fail_call("cannot post a send request (ibv_post_send) for the exchange on " + endpoint_.device(), error);
    }
    while (sent_ == before) {
      poll(step);
      if (std::chrono::steady_clock::now() > until) silent(step);
    }
    at += part;
    size_bytes -= part;
  }
}

void CmWire::receive(void* bytes, std::size_t size_bytes, const std::string& step) {
  const auto until = end_of_limit();
  auto* at = static_cast<std::uint8_t*>(bytes);
  while (size_bytes > 0) {
    while (arrived_.empty()) {
      poll(step);
      if (std::chrono::steady_clock::now() > until) silent(step);
    }
    const Message message = arrived_.front();
    arrived_.pop_front();
    if (message.size_bytes != std::min(size_bytes, cm_part_bytes)) {
      lost(step, cli::format("sent %zu bytes instead of %zu", message.size_bytes, std::min(size_bytes, cm_part_bytes)));
    }
    std::memcpy(at, slots_.data() + message.slot * cm_part_bytes, message.size_bytes);
    post_receive(message.slot);
    at += message.size_bytes;
    size_bytes -= message.size_bytes;
  }
}

bool CmWire::has_message(const std::string& step) {
  polls_ += polls_per_check - 1 - polls_ % polls_per_check;  // also check the connection
  if (arrived_.empty()) poll(step);
  return !arrived_.empty();
}

void CmWire::end() noexcept { manager_.end(time_for_the_end); }

}  // namespace

std::unique_ptr<Wire> open_cm_wire(const Endpoint& endpoint, ConnectionManager* manager, bool is_client,
                                   std::chrono::seconds limit) {
  auto wire = std::make_unique<CmWire>(endpoint, manager, is_client, limit);
  wire->connect();
  return wire;
}

}  // namespace gdrkit::transfer::perftest
