// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MessageEngine: a library that carries messages, puts and gets between the ranks, and runs their collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/engines/collective.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::engines {

/// What an engine has or has not, as bits.
namespace family {
enum : unsigned { message = 1, one_sided = 2, fetch = 4, collective = 8, barrier = 16, reduction_to_root = 32 };
}

/// Where a rank's buffers are, by OSU's letter: H host, D device, M managed.
using Place = char;

class MpiStart;

/// Messages at once.
struct Window {
  int count = 1;
  std::size_t stride_bytes = 0;  ///< from the buffer of one to that of the next; 0: one buffer for all
};

struct MessageRequest {
  job::ProcessGroup* processes = nullptr;
  bool is_one_sided = false;  ///< there will be puts, gets or fetch_add()
  Place place = 'H';
  std::size_t source_bytes = 0;
  std::size_t target_bytes = 0;
  const MpiStart* mpi = nullptr;  ///< of an engine that its own launcher starts
  std::string nccl;               ///< the file that was named; ""
};

/// Each rank has one buffer that it sends and puts from and gets to, `source`, and one that it receives into and that
/// others put into and get from, `target`. Functions throw Failure with the library's error message. What the engine's
/// line in engines.def leaves out is not called.
class MessageEngine {
 public:
  MessageEngine() = default;
  MessageEngine(const MessageEngine&) = delete;
  MessageEngine& operator=(const MessageEngine&) = delete;
  virtual ~MessageEngine() = default;

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

  /// Of all ranks, complete on this one when it returns; sums bytes, the root is rank 0. `size_bytes` as OSU counts, of
  /// one part.
  virtual void run_collective(CollectiveKind kind, std::size_t size_bytes);

  /// All ranks; what others need of this rank's CPU goes on meanwhile.
  virtual void barrier() = 0;
  /// Collective.
  virtual void end() = 0;
};

/// Who starts the ranks.
enum class Launcher : std::uint8_t { any, own };

struct MessageEngineKind {
  const char* name;
  const char* places;  ///< the default
  unsigned families;
  Launcher launcher;
  void (*before_cuda)() noexcept;                                         ///< or nullptr
  std::unique_ptr<MessageEngine> (*make)(const MessageRequest& request);  ///< collective; throws Failure

  [[nodiscard]] bool has(unsigned family) const noexcept { return (families & family) != 0; }
};
/// In the order of engines.def.
[[nodiscard]] const std::vector<MessageEngineKind>& all_message_engines();

}  // namespace gdrkit::transfer::engines
