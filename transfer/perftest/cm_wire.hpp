// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CmWire: the exchange by sends over a separate queue pair that rdma_cm connects, as with perftest's -z and -R.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transfer/perftest/connection_manager.hpp"
#include "transfer/perftest/perftest_wire.hpp"

namespace gdrkit::transfer::perftest {

class CmWire : public Wire {
 public:
  /// A server waits for its client without a limit. `manager` and `endpoint` must outlive it.
  [[nodiscard]] static std::unique_ptr<Wire> open(const Endpoint& endpoint, ConnectionManager* manager, bool is_client,
                                                  std::chrono::seconds limit);

  void send(const void* bytes, std::size_t size_bytes, const std::string& step) override;
  void receive(void* bytes, std::size_t size_bytes, const std::string& step) override;
  [[nodiscard]] bool has_message(const std::string& step) override;
  void end() noexcept override;
  [[nodiscard]] bool is_rdma_cm() const noexcept override { return true; }

 private:
  CmWire(const Endpoint& endpoint, ConnectionManager* manager, bool is_client, std::chrono::seconds limit);
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

}  // namespace gdrkit::transfer::perftest
