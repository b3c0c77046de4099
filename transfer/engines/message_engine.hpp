// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MessageEngine: a library that transfers messages, puts and gets between ranks, and runs collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/engines/collective.hpp"
#include "transfer/job/process_group.hpp"

namespace gdrkit::transfer::engines {

/// Bits for the families of operations that an engine supports.
namespace family {
enum : unsigned { message = 1, one_sided = 2, fetch = 4, collective = 8, barrier = 16, reduction_to_root = 32 };
}

/// Where a rank's buffers are, by OSU's letter: H host, D device, M managed.
using Place = char;

class MpiStart;

/// Several messages in flight.
struct Window {
  int count = 1;
  std::size_t stride_bytes = 0;  ///< distance of two messages' buffers; 0: all use one buffer
};

struct MessageRequest {
  job::ProcessGroup* processes = nullptr;
  bool is_one_sided = false;  ///< the run uses put, get or fetch_add
  Place place = 'H';
  std::size_t source_bytes = 0;
  std::size_t target_bytes = 0;
  const MpiStart* mpi = nullptr;  ///< for engines with Launcher::own
  std::string nccl;               ///< the file given by the user, or ""
};

/// Each rank has two buffers. It sends and puts from `source`, and gets into it. It receives into `target`, and other
/// ranks put into and get from `target`. Functions throw Failure with the library's error message. Callers use only the
/// families in the engine's line of message_engines.def.
class MessageEngine {
 public:
  MessageEngine() = default;
  MessageEngine(const MessageEngine&) = delete;
  MessageEngine& operator=(const MessageEngine&) = delete;
  virtual ~MessageEngine() = default;

  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual std::uint64_t source() const = 0;
  [[nodiscard]] virtual std::uint64_t target() const = 0;
  /// Human-readable text: the path that the data took, or "" if the library does not report it.
  [[nodiscard]] virtual std::string path() const = 0;

  /// Sends one message to `peer`. Returns when the buffer can be reused.
  virtual void send(int peer, std::size_t size_bytes);
  virtual void receive(int peer, std::size_t size_bytes);
  /// `window.count` messages in flight.
  virtual void send_window(int peer, std::size_t size_bytes, const Window& window);
  virtual void receive_window(int peer, std::size_t size_bytes, const Window& window);
  virtual void exchange_window(int peer, std::size_t size_bytes, const Window& window);

  /// A put is complete at `peer` after flush().
  virtual void put(int peer, std::size_t size_bytes);
  virtual void get(int peer, std::size_t size_bytes);
  virtual void flush(int peer);
  /// The operation is complete when the function returns.
  virtual void fetch_add(int peer);

  /// All ranks call it. The operation is complete on this rank when the function returns. Reductions add bytes; the
  /// root is rank 0. `size_bytes` is the size of one part, as in OSU's tests.
  virtual void run_collective(CollectiveKind kind, std::size_t size_bytes);

  /// All ranks call it. While it waits, it makes progress for operations of other ranks.
  virtual void barrier() = 0;
  /// Collective.
  virtual void end() = 0;
};

/// Who starts the ranks.
enum class Launcher : std::uint8_t { any, own };

struct MessageEngineKind {
  const char* name;
  const char* places;   ///< default places of the buffers of both ranks
  const char* accepts;  ///< the places that it supports
  unsigned families;
  Launcher launcher;
  void (*before_cuda)() noexcept;  ///< called before CUDA is initialized, or nullptr
  std::unique_ptr<MessageEngine> (*make)(const MessageRequest& request);  ///< collective; throws Failure

  [[nodiscard]] bool has(unsigned family) const noexcept { return (families & family) != 0; }
};
/// In the order of message_engines.def.
[[nodiscard]] const std::vector<MessageEngineKind>& all_message_engines();

}  // namespace gdrkit::transfer::engines
