// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// OsuEngine: a library that carries messages, puts and gets between the ranks, and runs their collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/job/process_group.hpp"
#include "transfer/osu/osu_test.hpp"

namespace gdrkit::tools::osu {

/// Where a rank's buffers are, by OSU's letter: H host, D device, M managed.
using Place = char;

class MpiStart;

/// Messages at once.
struct Window {
  int count = 1;
  std::size_t stride_bytes = 0;  ///< from the buffer of one to that of the next; 0: one buffer for all
};

struct EngineRequest {
  job::ProcessGroup* processes = nullptr;
  const OsuTest* test = nullptr;
  Place place = 'H';
  std::size_t source_bytes = 0;
  std::size_t target_bytes = 0;
  const MpiStart* mpi = nullptr;  ///< of an engine that its own launcher starts
  std::string nccl;               ///< the file that was named; ""
};

/// Each rank has one buffer that it sends and puts from and gets to, `source`, and one that it receives into and that
/// others put into and get from, `target`. Functions throw Failure with the library's error message. What the engine's
/// line in engines.def leaves out is not called.
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
  virtual void send(int peer, std::size_t size_bytes);
  virtual void receive(int peer, std::size_t size_bytes);
  /// Many at once.
  virtual void send_window(int peer, std::size_t size_bytes, const Window& window);
  virtual void receive_window(int peer, std::size_t size_bytes, const Window& window);
  virtual void exchange_window(int peer, std::size_t size_bytes, const Window& window);

  /// Complete at the other side after flush().
  virtual void put(int peer, std::size_t size_bytes);
  virtual void get(int peer, std::size_t size_bytes);
  virtual void flush(int peer);
  /// Complete when it returns.
  virtual void fetch_add(int peer);

  /// Of all ranks, complete on this one when it returns; `size_bytes` as OSU counts, of one part.
  virtual void run_collective(Loop loop, std::size_t size_bytes);

  /// All ranks; what others need of this rank's CPU goes on meanwhile.
  virtual void barrier() = 0;
  /// Collective.
  virtual void end() = 0;
};

/// Who starts the ranks.
enum class Launcher : std::uint8_t { any, own };

struct EngineKind {
  const char* name;
  const char* places;  ///< the default
  unsigned families;
  Launcher launcher;
  void (*before_cuda)() noexcept;                                    ///< or nullptr
  std::unique_ptr<OsuEngine> (*make)(const EngineRequest& request);  ///< collective; throws Failure

  [[nodiscard]] bool has(const OsuTest& test) const noexcept { return (families & test.kind()) != 0; }
};
/// In the order of engines.def.
[[nodiscard]] const std::vector<EngineKind>& all_osu_engines();

}  // namespace gdrkit::tools::osu
