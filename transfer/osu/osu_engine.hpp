// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OsuEngine: a library that carries messages, puts and gets between the ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/common/process_group.hpp"
#include "transfer/osu/osu_test.hpp"

namespace gdrkit::tools::osu {

/// Where a rank's buffers are, by OSU's letter: H host, D device, M managed.
using Place = char;

struct EngineRequest {
  transfer::ProcessGroup* processes = nullptr;
  const OsuTest* test = nullptr;
  Place place = 'H';
  std::size_t buffer_bytes = 0;  ///< of each of the two buffers
};

/// Each rank has one buffer that it sends and puts from and gets to, `source`, and one that it receives into and that
/// others put into and get from, `target`. Functions throw Failure with the library's error message.
class OsuEngine {
 public:
  OsuEngine() = default;
  OsuEngine(const OsuEngine&) = delete;
  OsuEngine& operator=(const OsuEngine&) = delete;
  virtual ~OsuEngine() = default;

  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual std::uint64_t source() const = 0;
  [[nodiscard]] virtual std::uint64_t target() const = 0;
  /// How the bytes went; "" where the library does not say.
  [[nodiscard]] virtual std::string path() const = 0;

  /// One message to `peer`; its own one from there. Returns when the buffer may be used again.
  virtual void send(int peer, std::size_t size_bytes) = 0;
  virtual void receive(int peer, std::size_t size_bytes) = 0;
  /// `count` of them at once.
  virtual void send_window(int peer, std::size_t size_bytes, int count) = 0;
  virtual void receive_window(int peer, std::size_t size_bytes, int count) = 0;
  virtual void exchange_window(int peer, std::size_t size_bytes, int count) = 0;

  /// Complete at the other side after flush().
  virtual void put(int peer, std::size_t size_bytes) = 0;
  virtual void get(int peer, std::size_t size_bytes) = 0;
  virtual void flush(int peer) = 0;
  /// Complete when it returns.
  virtual void fetch_add(int peer) = 0;

  /// All ranks; what others need of this rank's CPU goes on meanwhile.
  virtual void barrier() = 0;
  /// Collective.
  virtual void end() = 0;
};

struct EngineKind {
  const char* name;
  const char* places;                                                ///< the default
  std::unique_ptr<OsuEngine> (*make)(const EngineRequest& request);  ///< collective; throws Failure
};
/// In the order of engines.def.
[[nodiscard]] const std::vector<EngineKind>& all_osu_engines();

}  // namespace gdrkit::tools::osu
