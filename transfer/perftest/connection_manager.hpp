// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ConnectionManager: connects queue pairs by IP address through rdma_cm. rdma_cm only returns the attributes for their
// state changes, so the queue pairs do not require a device opened by librdmacm.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/vendor/rdma_cm_library.hpp"
#include "transfer/perftest/endpoint.hpp"
#include "transfer/perftest/perftest_wire.hpp"

namespace gdrkit::transfer::perftest {

/// A queue pair to be connected.
struct CmPair {
  std::uint32_t number = 0;
  int reads = 0;  ///< outstanding, in each direction
  std::function<void(platform::VerbsPairState*, int mask, const char* state)> modify;
};

class ConnectionManager {
 public:
  /// A server starts to listen. Throws Failure: cannot_run if librdmacm or Linux's part of it is missing.
  ConnectionManager(const Endpoint& endpoint, const Plan& plan);
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  /// A client connects the pair, a server accepts the next request. `limit`: zero for none. Throws Failure with the
  /// step.
  void connect(const CmPair& pair, std::chrono::seconds limit, const char* step);
  /// After connect(); the address of the other end.
  [[nodiscard]] std::string peer() const;
  /// Whether the other end has ended a connection. Does not wait.
  [[nodiscard]] bool has_ended();
  /// Ends the connections of a server. A client waits for that, at most for `most`, so that no data in flight is lost.
  void end(std::chrono::milliseconds most) noexcept;

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  struct Acknowledge {
    const platform::CmCalls* calls;
    void operator()(platform::CmEvent* event) const noexcept { (void)calls->ack_event(event); }
  };
  using Event = std::unique_ptr<platform::CmEvent, Acknowledge>;
  struct Opened {
    const platform::CmCalls* calls;
    platform::CmChannel* channel = nullptr;
    std::vector<platform::CmId*> ids;
    explicit Opened(const platform::CmCalls* opened_calls) : calls(opened_calls) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened();
  };

  platform::CmId* make_id();
  void listen();
  void set_type_of_service(platform::CmId* id);
  /// nullptr if none has arrived in time.
  [[nodiscard]] Event next_event(Deadline until);
  [[nodiscard]] bool is_end(const Event& event) const noexcept;
  /// The next event other than the end of a connection. Throws Failure if none arrives in time.
  [[nodiscard]] Event await(Deadline until, const char* step);
  void expect(int kind, Deadline until, const char* step);
  void accept(const CmPair& pair, Deadline until, const char* step);
  /// Returns false if the server does not listen (yet).
  [[nodiscard]] bool request(const CmPair& pair, Deadline until, const char* step);
  void check_device(const platform::CmId& id) const;
  void enter(platform::CmId* id, const CmPair& pair, int state, int reads, const char* name);
  [[noreturn]] void fail_cm(const char* call, int error, const std::string& remedy = "") const;

  const platform::CmCalls* calls_;
  const Endpoint& endpoint_;
  const Plan& plan_;
  Opened opened_;
  platform::CmId* connected_ = nullptr;
  bool has_ended_ = false;
  std::deque<Event> kept_;  ///< arrived during a wait for another event; acknowledged before their ids are destroyed
};

/// The exchange over a queue pair that rdma_cm connects. A server waits for its client without a limit. `manager` and
/// `endpoint` must outlive it.
[[nodiscard]] std::unique_ptr<Wire> open_cm_wire(const Endpoint& endpoint, ConnectionManager* manager, bool is_client,
                                                 std::chrono::seconds limit);

}  // namespace gdrkit::transfer::perftest
