// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// SocketWire: the exchange over TCP.
#pragma once

#include <memory>

#include "transfer/perftest/perftest_options.hpp"
#include "transfer/perftest/perftest_wire.hpp"

namespace gdrkit::transfer::perftest {

class SocketWire : public Wire {
 public:
  /// Waits for the client. `listener`: a socket that is already listening, or -1.
  [[nodiscard]] static std::unique_ptr<Wire> listen(int port, int listener, std::chrono::seconds limit,
                                                    const ExchangeRoute& route = {});
  /// `waits`: the server may still be starting.
  [[nodiscard]] static std::unique_ptr<Wire> connect(const std::string& host, int port, bool waits,
                                                     std::chrono::seconds limit, const ExchangeRoute& route = {});
  ~SocketWire() override;

  void send(const void* bytes, std::size_t size_bytes, const std::string& step) override;
  void receive(void* bytes, std::size_t size_bytes, const std::string& step) override;
  [[nodiscard]] bool has_message(const std::string& step) override;
  void end() noexcept override;
  [[nodiscard]] bool is_rdma_cm() const noexcept override { return false; }

 private:
  SocketWire(int socket, std::string peer, bool is_client, std::chrono::seconds limit)
      : Wire(std::move(peer), is_client, limit), socket_(socket) {}
  void wait(short events, std::chrono::steady_clock::time_point deadline, const std::string& step) const;

  int socket_;
};

}  // namespace gdrkit::transfer::perftest
