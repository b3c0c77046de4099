// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Wire: the transport of the exchange: a TCP connection, or a queue pair that rdma_cm has connected.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "transfer/perftest/perftest_options.hpp"

namespace gdrkit::transfer::perftest {

/// All functions throw Failure(failed) with the peer and the step if the peer has ended or does not respond.
class Wire {
 public:
  virtual ~Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  virtual void send(const void* bytes, std::size_t size_bytes, const std::string& step) = 0;
  virtual void receive(void* bytes, std::size_t size_bytes, const std::string& step) = 0;
  /// Whether a message from the peer has arrived. Does not wait.
  [[nodiscard]] virtual bool has_message(const std::string& step) = 0;
  /// Sends the end message. Afterwards only the destructor may be called.
  virtual void end() noexcept = 0;
  /// perftest uses a different address record for each.
  [[nodiscard]] virtual bool is_rdma_cm() const noexcept = 0;

  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }
  [[nodiscard]] bool is_client() const noexcept { return is_client_; }
  [[noreturn]] void lost(const std::string& step, const std::string& how) const;

 protected:
  Wire(std::string peer, bool is_client, std::chrono::seconds limit)
      : peer_(std::move(peer)), is_client_(is_client), limit_(limit) {}
  [[nodiscard]] std::chrono::steady_clock::time_point end_of_limit() const {
    return std::chrono::steady_clock::now() + limit_;
  }
  [[noreturn]] void silent(const std::string& step) const;

  std::string peer_;
  bool is_client_;
  std::chrono::seconds limit_;
};

/// Waits for the client over TCP. `listener`: a socket that is already listening, or -1.
[[nodiscard]] std::unique_ptr<Wire> listen_by_tcp(int port, int listener, std::chrono::seconds limit,
                                                  const ExchangeRoute& route = {});
/// Connects to the server over TCP. `waits`: it may still be starting.
[[nodiscard]] std::unique_ptr<Wire> connect_by_tcp(const std::string& host, int port, bool waits,
                                                   std::chrono::seconds limit, const ExchangeRoute& route = {});

}  // namespace gdrkit::transfer::perftest
