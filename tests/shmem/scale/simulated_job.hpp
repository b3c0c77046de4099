// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SimulatedJob: one real PE, number 0, in a job of any size. The others are simulated: each is on a separate machine,
// does the same as PE 0 at the same time, and sends PE 0's messages from its own position.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/vendor/ucx_library.hpp"
#include "shmem/remote/message.hpp"
#include "shmem/remote/message_keys.hpp"
#include "shmem/remote/ucx_worker.hpp"

namespace gdrkit::shmem_impl::tests {

/// One at a time in a process: UCX's functions carry no context of their own.
class SimulatedJob {
 public:
  explicit SimulatedJob(int n_pes) : n_pes_(n_pes), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    instance() = this;
  }
  ~SimulatedJob() {
    ::close(event_);
    instance() = nullptr;
  }
  SimulatedJob(const SimulatedJob&) = delete;
  SimulatedJob& operator=(const SimulatedJob&) = delete;

  /// gdrkit_shmem_allgather_t: every part is that of PE 0, with the PE's own identity.
  static int allgather(const void* mine, std::size_t size_bytes, void* all, void* /*argument*/) {
    SimulatedJob& self = *instance();
    ++self.steps_;
    for (int pe = 0; pe < self.n_pes_; ++pe) {
      char* const part = static_cast<char*>(all) + static_cast<std::size_t>(pe) * size_bytes;
      std::memcpy(part, mine, size_bytes);
      write_as(pe, part, size_bytes);
    }
    return 0;
  }
  [[nodiscard]] const platform::UcxCalls& ucx_calls() const noexcept { return calls_; }

  /// Sends a message of another PE to PE 0, after all queued messages. Returns once PE 0 has handled it.
  void send_raw(const remote::RemoteMessage& message, const std::string& data) {
    std::vector<char> block = header_of(message);
    block.insert(block.end(), data.begin(), data.end());
    sign(message.from, block);
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back({std::move(block), {}});
    }
    wake();
    while (true) {
      const std::lock_guard lock(mutex_);
      if (queue_.empty() && !is_handling_) return;
    }
  }
  /// Number of the last message in order that PE `pe` sent.
  [[nodiscard]] std::uint64_t received_from(int pe) {
    const std::lock_guard lock(mutex_);
    return numbers_[pe];
  }
  [[nodiscard]] int steps() const noexcept { return steps_; }  ///< all-gathers
  [[nodiscard]] std::size_t connections() const noexcept { return endpoints_.size(); }
  [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }

 private:
  struct Message {
    std::vector<char> header;
    std::vector<char> data;
  };
  /// As the exchange puts before each part.
  struct Head {
    std::uint64_t size_bytes;
    std::int32_t pe;
    char step[44];
  };
  struct Address {
    std::int32_t pe = 0;
    char rest[188] = {};  // as long as UCX's
  };

  static SimulatedJob*& instance() {
    static SimulatedJob* job = nullptr;
    return job;
  }

  static void write_as(int pe, char* part, std::size_t size_bytes) {
    Head head;
    std::memcpy(&head, part, sizeof head);
    head.pe = pe;
    std::memcpy(part, &head, sizeof head);
    char* const payload = part + sizeof head;
    const std::size_t payload_bytes = size_bytes - sizeof head;
    const std::string_view step(head.step);
    const std::int32_t number = pe;
    if (step == "finding the node of each PE") {
      constexpr std::string_view own = "machine 0, apart";
      const std::string_view bytes(payload, payload_bytes);
      const std::string name = "machine " + std::to_string(pe) + ", apart";
      if (const auto at = bytes.find(own); at != std::string_view::npos) {
        std::memcpy(payload + at, name.c_str(), name.size() + 1);
      }
    } else if (step == "connecting the PEs of each node" || step == "exchanging UCX addresses") {
      std::memcpy(payload, &number, sizeof number);
    } else if (step == "starting UCX") {
      remote::WorkerCard card;
      std::memcpy(&card, payload, sizeof card);
      instance()->keys_ = remote::MessageKeys(nullptr, card.nonce);
      card.leader = number;
      std::memcpy(payload, &card, sizeof card);
    }
  }

  /// The PE as far before PE 0 as `to` is after it sends the same message to PE 0.
  void* send(platform::UcxEndpoint* endpoint, const void* header, std::size_t header_bytes, const void* data,
             std::size_t size_bytes) {
    ++messages_;
    const auto to = static_cast<std::int32_t>(reinterpret_cast<std::intptr_t>(endpoint) - 1);
    auto decoded = remote::decode_message(bytes_of(header, header_bytes), bytes_of(data, size_bytes), -1, n_pes_);
    remote::RemoteMessage& reply = decoded->message;
    reply.from = (n_pes_ - to) % n_pes_;
    Message message;
    message.header = header_of(reply);
    auto& rest = size_bytes != 0 ? message.data : message.header;
    rest.insert(rest.end(), decoded->data.begin(), decoded->data.end());
    sign(reply.from, message.header);
    {
      const std::lock_guard lock(mutex_);
      numbers_[reply.from] = std::max(numbers_[reply.from], reply.number);
      queue_.push_back(std::move(message));
    }
    wake();
    return nullptr;
  }
  static secret::Bytes bytes_of(const void* data, std::size_t size_bytes) {
    return {static_cast<const std::uint8_t*>(data), size_bytes};
  }
  static std::vector<char> header_of(const remote::RemoteMessage& message) {
    std::uint8_t header[remote::longest_header_bytes];
    const std::size_t size_bytes = remote::write_header(message, header);
    return {header, header + size_bytes};
  }
  void sign(int from, std::vector<char>& block) const {
    remote::write_tag(keys_.of(from, 0), {reinterpret_cast<std::uint8_t*>(block.data()), block.size()});
  }
  void wake() const {
    const std::uint64_t one = 1;
    (void)!::write(event_, &one, sizeof one);
  }

  unsigned progress() {
    Message message;
    {
      const std::lock_guard lock(mutex_);
      if (queue_.empty()) return 0;
      message = std::move(queue_.front());
      queue_.pop_front();
      is_handling_ = true;
    }
    const platform::UcxMessageDetails details;
    (void)handler_.function(handler_.argument, message.header.data(), message.header.size(), message.data.data(),
                            message.data.size(), &details);
    const std::lock_guard lock(mutex_);
    is_handling_ = false;
    return 1;
  }

  static platform::UcxCalls make_calls() {
    using namespace platform;
    static int something = 0;
    UcxCalls calls;
    calls.get_version = [](unsigned* major, unsigned* minor, unsigned* release) {
      *major = ucx_api_major;
      *minor = ucx_api_minor;
      *release = 0;
    };
    calls.status_string = [](UcxStatus) { return "simulated"; };
    calls.config_read = [](const char*, const char*, UcxConfig**) { return ucx_ok; };
    calls.config_modify = [](UcxConfig*, const char*, const char*) { return ucx_ok; };
    calls.config_release = [](UcxConfig*) {};
    calls.init_version = [](unsigned, unsigned, const UcxParams*, const UcxConfig*, UcxContext** context) {
      *context = reinterpret_cast<UcxContext*>(&something);
      return ucx_ok;
    };
    calls.cleanup = [](UcxContext*) {};
    calls.context_query = [](UcxContext*, UcxContextAttributes*) { return ucx_ok; };
    calls.worker_create = [](UcxContext*, const UcxWorkerParams*, UcxWorkerHandle** worker) {
      *worker = reinterpret_cast<UcxWorkerHandle*>(&something);
      return ucx_ok;
    };
    calls.worker_destroy = [](UcxWorkerHandle*) {};
    calls.worker_get_address = [](UcxWorkerHandle*, UcxAddress** address, std::size_t* size_bytes) {
      static Address own;
      *address = reinterpret_cast<UcxAddress*>(&own);
      *size_bytes = sizeof own;
      return ucx_ok;
    };
    calls.worker_release_address = [](UcxWorkerHandle*, UcxAddress*) {};
    calls.worker_progress = [](UcxWorkerHandle*) { return instance()->progress(); };
    calls.worker_get_efd = [](UcxWorkerHandle*, int* fd) {
      *fd = instance()->event_;
      return ucx_ok;
    };
    calls.worker_arm = [](UcxWorkerHandle*) {
      std::uint64_t events = 0;
      (void)!::read(instance()->event_, &events, sizeof events);
      const std::lock_guard lock(instance()->mutex_);
      return instance()->queue_.empty() ? ucx_ok : ucx_busy;
    };
    calls.worker_signal = [](UcxWorkerHandle*) {
      const std::uint64_t one = 1;
      (void)!::write(instance()->event_, &one, sizeof one);
      return ucx_ok;
    };
    calls.worker_set_am_recv_handler = [](UcxWorkerHandle*, const UcxMessageHandler* handler) {
      instance()->handler_ = *handler;
      return ucx_ok;
    };
    calls.ep_create = [](UcxWorkerHandle*, const UcxEndpointParams* params, UcxEndpoint** endpoint) {
      Address address;
      std::memcpy(static_cast<void*>(&address), static_cast<const void*>(params->address), sizeof address);
      ++instance()->endpoints_[address.pe];
      *endpoint = reinterpret_cast<UcxEndpoint*>(static_cast<std::intptr_t>(address.pe) + 1);
      return ucx_ok;
    };
    calls.ep_close_nbx = [](UcxEndpoint*, const UcxRequestParams*) -> void* { return nullptr; };
    calls.ep_flush_nbx = [](UcxEndpoint*, const UcxRequestParams*) -> void* { return nullptr; };
    calls.am_send_nbx = [](UcxEndpoint* endpoint, unsigned, const void* header, std::size_t header_bytes,
                           const void* data, std::size_t size_bytes, const UcxRequestParams*) {
      return instance()->send(endpoint, header, header_bytes, data, size_bytes);
    };
    calls.request_check_status = [](void*) { return ucx_ok; };
    calls.request_free = [](void*) {};
    return calls;
  }

  const int n_pes_;
  const int event_;
  const platform::UcxCalls calls_ = make_calls();
  platform::UcxMessageHandler handler_;
  std::mutex mutex_;
  std::deque<Message> queue_;
  bool is_handling_ = false;
  std::map<int, std::uint64_t> numbers_;
  remote::MessageKeys keys_;
  std::map<int, int> endpoints_;  // by PE: how often it was connected
  std::uint64_t messages_ = 0;
  int steps_ = 0;
};

}  // namespace gdrkit::shmem_impl::tests
