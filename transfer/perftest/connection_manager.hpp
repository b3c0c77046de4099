// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ConnectionManager: rdma_cm, which connects queue pairs by IP address. The queue pairs stay ours: rdma_cm says what
// brings them into their states, so that they need no device that librdmacm has opened.
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

namespace gdrkit::transfer::perftest {

/// A queue pair that is to be connected.
struct CmPair {
  std::uint32_t number = 0;
  int reads = 0;  ///< outstanding, either way
  std::function<void(platform::VerbsPairState*, int mask, const char* state)> modify;
};

class ConnectionManager {
 public:
  /// A server listens from here on. Throws Failure: cannot_run where librdmacm or Linux's part of it is missing.
  ConnectionManager(const Endpoint& endpoint, const Plan& plan);
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  /// A client connects it, a server accepts the next request. `limit`: zero for none. Throws Failure with the step.
  void connect(const CmPair& pair, std::chrono::seconds limit, const char* step);
  /// After connect(); the address of the other end.
  [[nodiscard]] std::string peer() const;
  /// Whether the other end has ended a connection; does not wait.
  [[nodiscard]] bool has_ended();
  /// Ends the connections of a server; a client waits for that, `most` at most, so that nothing under way is lost.
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
  /// nullptr where none has come in time.
  [[nodiscard]] Event next_event(Deadline until);
  [[nodiscard]] bool is_end(const Event& event) const noexcept;
  /// The next event that is no end of a connection. Throws Failure when there is none in time.
  [[nodiscard]] Event await(Deadline until, const char* step);
  void expect(int kind, Deadline until, const char* step);
  void accept(const CmPair& pair, Deadline until, const char* step);
  /// False: the server does not listen (yet).
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
  std::deque<Event> kept_;  ///< came while something else was waited for; acknowledged before their ids go
};

}  // namespace gdrkit::transfer::perftest
