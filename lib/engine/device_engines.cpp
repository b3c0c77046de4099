// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/device_engines.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace gdrkit::engine {
namespace {

std::int64_t steady_ns() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

char* advanced(void* address, std::size_t bytes) noexcept {
  return address == nullptr ? nullptr : static_cast<char*>(address) + bytes;
}

Copy piece_of(const Copy& copy, std::size_t at, std::size_t size_bytes) noexcept {
  Copy piece = copy;
  piece.device += at;
  piece.source += at;
  piece.mapped = advanced(copy.mapped, at);
  piece.host = advanced(copy.host, at);
  piece.size_bytes = size_bytes;
  return piece;
}

}  // namespace

#define GDRKIT_ENGINE(name, summary) base::Result<std::unique_ptr<Engine>> open_##name(const Place& place) noexcept;
#include "engine/engines.def"
#undef GDRKIT_ENGINE

std::span<const Registration> registrations() noexcept {
  static constexpr Registration list[] = {
#define GDRKIT_ENGINE(name, summary) {Id::name, #name, summary, &open_##name},
#include "engine/engines.def"
#undef GDRKIT_ENGINE
  };
  return list;
}

base::Result<std::unique_ptr<DeviceEngines>> DeviceEngines::open(backend::Backend& backend, std::unique_ptr<Gpu> gpu,
                                                                 const ResidenceLimits& limits,
                                                                 const Table& table) noexcept {
  std::unique_ptr<DeviceEngines> engines(new (std::nothrow) DeviceEngines(backend, std::move(gpu), limits, table));
  if (engines == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening engines");
  if (base::Status opened = engines->need(Id::cpu); !opened) return base::pass(opened);
  return engines;
}

base::Status DeviceEngines::need(Id id) noexcept {
  const std::lock_guard lock(opening_);
  std::unique_ptr<Engine>& engine = engines_[index(id)];
  if (engine != nullptr) return {};
  auto opened = registrations()[index(id)].open(place_);
  if (!opened) return base::pass(opened);
  engine = std::move(*opened);
  usable_[index(id)].store(true, std::memory_order_release);
  return {};
}

base::Status DeviceEngines::run(Id id, const Copy& copy) noexcept {
  Engine& engine = *engines_[index(id)];
  const Traits& traits = engine.traits();
  const bool is_ordinary = copy.direction != Direction::on_device && copy.host_memory == HostMemory::ordinary;
  const std::size_t limit = is_ordinary ? traits.largest_ordinary_bytes : traits.largest_bytes;
  for (std::size_t at = 0; at < copy.size_bytes;) {
    const std::size_t size_bytes = std::min(limit, copy.size_bytes - at);
    const base::Result<Ticket> submitted = engine.submit(piece_of(copy, at, size_bytes));
    if (!submitted) return base::pass(submitted);
    if (base::Status completed = engine.complete(*submitted); !completed) return completed;
    at += size_bytes;
  }
  return {};
}

base::Status DeviceEngines::run_patiently(Id id, const Copy& copy) noexcept {
  constexpr int attempts = 200;  // with a pause of 1 ms from the fourth on
  for (int attempt = 1;; ++attempt) {
    base::Status moved = run(id, copy);
    if (moved || moved.error().errno_value != EAGAIN || attempt == attempts) return moved;
    if (attempt > 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Id DeviceEngines::pick(const Copy& copy, bool* wants_warmth) noexcept {
  const Choice choice = table_.choose(copy.direction, copy.host_memory, copy.size_bytes);
  *wants_warmth = false;
  if (is_usable(choice.warm)) {
    Engine& wanted = *engines_[index(choice.warm)];
    if (choice.warm == choice.cold || wanted.is_warm()) return choice.warm;
    *wants_warmth = true;
    // Warmed up when it would have stayed warm since the last copy that it is good for: that takes as long as a copy.
    const std::int64_t since = steady_ns() - last_wish_ns_.load(std::memory_order_relaxed);
    if (since < place_.residence.idle.count() / 4 * 3) wanted.warm_up();
  }
  return is_usable(choice.cold) ? choice.cold : Id::cpu;
}

base::Status DeviceEngines::run_fastest(const Copy& copy) noexcept {
  bool wants_warmth = false;
  Id id = pick(copy, &wants_warmth);
  base::Status moved;
  for (;;) {
    moved = run(id, copy);
    if (moved || moved.error().errno_value == ETIMEDOUT || id == Id::cpu) break;
    const int error = moved.error().errno_value;
    if (error != EAGAIN && error != EOPNOTSUPP) usable_[index(id)].store(false, std::memory_order_release);
    id = id == Id::mover && is_usable(Id::copy_engine) ? Id::copy_engine : Id::cpu;
  }
  if (wants_warmth) last_wish_ns_.store(steady_ns(), std::memory_order_relaxed);
  return moved;
}

}  // namespace gdrkit::engine
