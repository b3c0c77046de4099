// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DeviceEngines: the engines of one GPU, and copies that go on by another engine where one cannot serve them.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/result.hpp"
#include "engine/chooser.hpp"
#include "engine/engine.hpp"
#include "engine/gpu.hpp"

namespace gdrkit::engine {

/// Whether the engine failed because the GPU has no room or memory for the copy now. The CPU may then perform it.
[[nodiscard]] inline bool is_shortage(const base::Status& failed) noexcept {
  const int error = failed ? 0 : failed.error().errno_value;
  return error == EAGAIN || error == EBUSY || error == ENOMEM;
}

/// Thread safe.
class DeviceEngines {
 public:
  /// With engine cpu; others by need().
  [[nodiscard]] static base::Result<std::unique_ptr<DeviceEngines>> open(backend::Backend& backend,
                                                                         std::unique_ptr<Gpu> gpu,
                                                                         const ResidenceLimits& limits,
                                                                         const Table& table = {}) noexcept;

  [[nodiscard]] Gpu& gpu() const noexcept { return *gpu_; }
  [[nodiscard]] const Table& table() const noexcept { return table_; }
  /// Opens the engine unless it is open; its own error where it cannot run here.
  base::Status need(Id id) noexcept;

  /// only_warm: EAGAIN where the engine is not warm.
  enum class Pace : std::uint8_t { any, only_warm };
  /// Copies by this engine, in pieces if it has a limit. Returns its error. `left`: the copy; after an error, the part
  /// that the engine has not copied.
  base::Status run(Id id, Copy& left, Pace pace = Pace::any) noexcept;
  /// Copies by the engine that the user named. If the GPU is busy, waits for a bounded time; then the CPU copies. If
  /// started copies fill the engine, the CPU copies at once: the caller itself may have to complete them.
  base::Status run_named(Id id, const Copy& copy) noexcept;
  /// Starts it, by this engine or by the fastest. Nothing where no engine but the CPU takes the copy whole now: then
  /// one of the calls above serves it.
  struct Started {
    Id id;
    Ticket ticket;
  };
  [[nodiscard]] std::optional<Started> start(std::optional<Id> forced, const Copy& copy) noexcept;
  [[nodiscard]] bool is_done(const Started& started) const noexcept {
    return engines_[index(started.id)]->is_done(started.ticket);
  }
  base::Status complete(const Started& started) noexcept {
    base::Status completed = engines_[index(started.id)]->complete(started.ticket);
    started_[index(started.id)].fetch_sub(1, std::memory_order_relaxed);
    return completed;
  }
  /// Moves it by the CPU, and returns true, where that is the choice now: the faster engine is not warm, and not worth
  /// warming up.
  bool try_cpu_copy(const Choice& choice, const Copy& copy) noexcept;
  /// By the fastest engine that can serve the copy. Fails only with ETIMEDOUT (Engine::complete), where no other engine
  /// may take over.
  base::Status run_fastest(const Copy& copy) noexcept;

 private:
  DeviceEngines(backend::Backend& backend, std::unique_ptr<Gpu> gpu, const ResidenceLimits& limits,
                const Table& table) noexcept
      : gpu_(std::move(gpu)), table_(table), place_{backend, *gpu_, limits} {
    for (auto& last : last_demand_ns_) last.store(INT64_MIN / 2, std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_usable(Id id) const noexcept { return usable_[index(id)].load(std::memory_order_acquire); }
  [[nodiscard]] static std::size_t index(Id id) noexcept { return static_cast<std::size_t>(id); }
  void note_failure(Id id, int error) noexcept;
  [[nodiscard]] bool is_resting(Id id) const noexcept {
    const std::int64_t until = rest_until_ns_[index(id)].load(std::memory_order_relaxed);
    return until != 0 && now_ns() < until;  // reads the clock only after a shortage
  }
  [[nodiscard]] bool is_full_of_started(Id id) const noexcept {
    return started_[index(id)].load(std::memory_order_relaxed) >= engines_[index(id)]->traits().outstanding;
  }
  base::Status wait_for_room(Id id, Copy& left) noexcept;
  [[nodiscard]] bool should_warm_up(Id id, std::size_t size_bytes) noexcept;
  void note_end_of_demand(Id id, std::size_t size_bytes) noexcept;

  static constexpr std::size_t engine_count = 0
#define GDRKIT_ENGINE(name, summary) +1
#include "engine/engines.def"
#undef GDRKIT_ENGINE
      ;
  std::unique_ptr<Gpu> gpu_;  ///< outlives the engines
  const Table table_;
  Place place_;
  std::mutex opening_;
  std::array<std::unique_ptr<Engine>, engine_count> engines_;
  std::array<std::atomic<bool>, engine_count> usable_{};  ///< open, and has not failed for good
  /// About the end of the last copy that this engine would have served, had it been warm.
  std::array<std::atomic<std::int64_t>, engine_count> last_demand_ns_;
  /// Until this time a named engine is used only while it is warm; 0: it has always had room.
  std::array<std::atomic<std::int64_t>, engine_count> rest_until_ns_{};
  std::array<std::atomic<unsigned>, engine_count> started_{};  ///< copies from start() to complete()
};

}  // namespace gdrkit::engine
