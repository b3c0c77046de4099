// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The contract of an engine: who moves the bytes of one copy between host memory and device memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/backend.hpp"
#include "base/result.hpp"
#include "copy/copier.hpp"

namespace gdrkit::engine {

class Gpu;

enum class Direction : std::uint8_t { to_device, from_device };
/// pinned: page-locked by CUDA for this device, so that the GPU can access it.
enum class HostMemory : std::uint8_t { ordinary, pinned };

/// One copy. All of it lies inside one allocation on either side.
struct Copy {
  Direction direction = Direction::from_device;
  HostMemory host_memory = HostMemory::ordinary;
  std::uint64_t device = 0;              ///< device address of the first byte
  void* mapped = nullptr;                ///< the same byte as the CPU's mapping shows it
  void* host = nullptr;                  ///< only read where direction is to_device
  std::size_t size_bytes = 0;            ///< not 0
  const copy::Copier* copier = nullptr;  ///< of the mapping

  /// Its bytes [at, at + bytes).
  [[nodiscard]] Copy part(std::size_t at, std::size_t bytes) const noexcept {
    Copy part = *this;
    part.device += at;
    part.mapped = static_cast<char*>(mapped) + at;
    part.host = static_cast<char*>(host) + at;
    part.size_bytes = bytes;
    return part;
  }
};

/// By the calling thread.
inline void copy_by_cpu(const copy::Copier& copier, Direction direction, void* mapped, void* host,
                        std::size_t size_bytes) noexcept {
  if (direction == Direction::to_device) {
    copier.to_device(mapped, host, size_bytes);
  } else {
    copier.from_device(host, mapped, size_bytes);
  }
}

struct Traits {
  std::size_t largest_bytes = 0;           ///< of one copy whose host memory is pinned
  std::size_t largest_ordinary_bytes = 0;  ///< of one copy whose host memory is ordinary
  unsigned outstanding = 0;                ///< so many copies may be submitted before one is completed
};

/// Names a submitted copy until it is completed.
using Ticket = std::uint64_t;

/// Thread safe. Destruction waits for what the engine still has to do.
class Engine {
 public:
  virtual ~Engine() = default;
  [[nodiscard]] virtual const Traits& traits() const noexcept = 0;

  /// Starts a copy. The memory on both sides must stay as it is until complete() returned. On an error nothing was
  /// started. EAGAIN: not now (too many are outstanding, no room on the GPU); EOPNOTSUPP: not this copy; EINVAL: above
  /// the limit in traits(). Another engine may serve the first two. Else the engine cannot be used any more.
  [[nodiscard]] virtual base::Result<Ticket> submit(const Copy& copy) noexcept = 0;

  /// Waits for the end of a submitted copy; each ticket is completed exactly once, by any thread. Success: every byte
  /// is in its place, for this thread and for what it starts on the GPU from now on. On an error the target holds
  /// any mixture of old and new bytes, and the engine touches neither side any more, so that another engine may repeat
  /// the copy; EAGAIN: this engine may repeat it too. The one exception is ETIMEDOUT: the GPU does not react, the
  /// memory must not be reused, as the error's text states.
  [[nodiscard]] virtual base::Status complete(Ticket ticket) noexcept = 0;

  /// Whether complete() would not wait for anything asynchronous. The ticket is not completed yet.
  [[nodiscard]] virtual bool is_done(Ticket) const noexcept { return true; }

  /// Whether a copy submitted now starts without a delay that later ones do not have.
  [[nodiscard]] virtual bool is_warm() const noexcept { return true; }
  /// submit() while warm, else EAGAIN.
  [[nodiscard]] virtual base::Result<Ticket> submit_if_warm(const Copy& copy) noexcept {
    if (!is_warm())
      return base::fail_literal(EAGAIN,
                                "cannot start the copy immediately: the copy engine is not running yet; retry later");
    return submit(copy);
  }
  /// Gets warm, without waiting for it; a hint, so a failure is not an error.
  virtual void warm_up() noexcept {}
};

/// How long the mover's GPU kernel may stay on the GPU, and how long the CPU waits for it.
struct ResidenceLimits {
  std::chrono::nanoseconds idle = std::chrono::microseconds(100);  ///< without a command; then it ends
  std::chrono::nanoseconds busy = std::chrono::milliseconds(1);    ///< in all; then it ends, and is launched again
  std::chrono::nanoseconds start = std::chrono::milliseconds(2);   ///< the CPU waits so long for a launch
  std::chrono::nanoseconds response =
      std::chrono::milliseconds(10);  ///< the CPU waits this long for a command before it revokes the command
  /// After it has revoked a command, the CPU waits so long until the GPU counts as lost. A GPU kernel of another
  /// process may keep the GPU for many seconds.
  std::chrono::nanoseconds end = std::chrono::seconds(60);
  unsigned blocks = 2;  ///< 1 to 8; measured on an H200: 1 block is slower from 64 KiB on, 4 are no faster than 2
};

/// Of the steady clock.
inline std::int64_t now_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Where an engine works. What it refers to outlives the engine.
struct Place {
  backend::Backend& backend;
  Gpu& gpu;
  ResidenceLimits residence;
};

// Each opens its engine, or returns an error with the reason why it cannot run here.
#define GDRKIT_ENGINE(name, summary) base::Result<std::unique_ptr<Engine>> open_##name(const Place& place) noexcept;
#include "engine/engines.def"
#undef GDRKIT_ENGINE

/// One line of engines.def.
enum class Id : std::uint8_t {
#define GDRKIT_ENGINE(name, summary) name,
#include "engine/engines.def"
#undef GDRKIT_ENGINE
};
struct Registration {
  Id id;
  const char* name;
  base::Result<std::unique_ptr<Engine>> (*open)(const Place& place) noexcept;
};
/// All engines; an Id is an index into the list.
[[nodiscard]] std::span<const Registration> registrations() noexcept;

}  // namespace gdrkit::engine
