// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "engine/device_engines.hpp"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

namespace gdrkit::engine {
namespace {

/// The end of a smaller copy is estimated, as the CPU loads: 1 byte in a ns. A look at the clock takes 0.1 us.
constexpr std::size_t largest_estimated_bytes = 16384;

/// A copy's total wait for a named engine, over all pieces. Time slices of other processes take some ms each.
constexpr std::int64_t patience_ns = 50'000'000;
/// After a copy has waited in vain, no other copy waits for this time: a GPU that stays full costs a tenth of the time.
constexpr std::int64_t rest_ns = 10 * patience_ns;
/// The time between two attempts, unless the engine gets warm earlier.
constexpr std::int64_t pause_ns = 1'000'000;

std::size_t limit_of(const Traits& traits, const Copy& copy) noexcept {
  return copy.host_memory == HostMemory::ordinary ? traits.largest_ordinary_bytes : traits.largest_bytes;
}

}  // namespace

std::span<const Registration> registrations() noexcept {
  static constexpr Registration list[] = {
#define GDRKIT_ENGINE(name, summary) {Id::name, #name, &open_##name},
#include "engine/engines.def"
#undef GDRKIT_ENGINE
  };
  return list;
}

base::Result<std::unique_ptr<DeviceEngines>> DeviceEngines::open(backend::Backend& backend, std::unique_ptr<Gpu> gpu,
                                                                 const ResidenceLimits& limits,
                                                                 const Table& table) noexcept {
  std::unique_ptr<DeviceEngines> engines(new (std::nothrow) DeviceEngines(backend, std::move(gpu), limits, table));
  if (engines == nullptr) return base::fail_literal(ENOMEM, "out of memory while opening copy engines");
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

base::Status DeviceEngines::run(Id id, Copy& left, Pace pace) noexcept {
  Engine& engine = *engines_[index(id)];
  const std::size_t limit = limit_of(engine.traits(), left);
  while (left.size_bytes != 0) {
    const Copy piece = left.part(0, std::min(limit, left.size_bytes));
    const base::Result<Ticket> submitted =
        pace == Pace::only_warm ? engine.submit_if_warm(piece) : engine.submit(piece);
    if (!submitted) return base::pass(submitted);
    if (base::Status completed = engine.complete(*submitted); !completed) return completed;
    left = left.part(piece.size_bytes, left.size_bytes - piece.size_bytes);
  }
  return {};
}

std::optional<DeviceEngines::Started> DeviceEngines::start(std::optional<Id> forced, const Copy& copy) noexcept {
  const Choice choice =
      forced ? Choice{*forced, *forced} : table_.choose(copy.direction, copy.host_memory, copy.size_bytes);
  bool is_cold = false;
  for (const Id id : {choice.warm, choice.cold}) {
    if (id == Id::cpu || !is_usable(id)) continue;
    Engine& engine = *engines_[index(id)];
    if (copy.size_bytes > limit_of(engine.traits(), copy)) continue;
    const bool is_only_warm = forced ? is_resting(id) : choice.warm != choice.cold && id == choice.warm;
    const base::Result<Ticket> submitted = is_only_warm ? engine.submit_if_warm(copy) : engine.submit(copy);
    if (submitted) {
      started_[index(id)].fetch_add(1, std::memory_order_relaxed);
      if (is_cold && should_warm_up(choice.warm, copy.size_bytes)) engines_[index(choice.warm)]->warm_up();
      return Started{id, *submitted};
    }
    if (forced) break;
    is_cold = is_only_warm && submitted.error().errno_value == EAGAIN;
  }
  return std::nullopt;
}

base::Status DeviceEngines::wait_for_room(Id id, Copy& left) noexcept {
  const Engine& engine = *engines_[index(id)];
  for (const std::int64_t end = now_ns() + patience_ns;;) {
    base::Status moved = run(id, left);  // without a pause: the GPU kernel may have ended just before its command
    if (moved || moved.error().errno_value != EAGAIN || now_ns() >= end) return moved;
    // On a shared GPU the GPU kernel ends soon if it has no command at its turn: poll often.
    for (const std::int64_t next = now_ns() + pause_ns; now_ns() < next;) {
      std::this_thread::yield();
      if (engine.is_warm()) break;
    }
  }
}

base::Status DeviceEngines::run_named(Id id, const Copy& copy) noexcept {
  Copy left = copy;
  const bool is_rest = is_resting(id);
  base::Status moved = run(id, left, is_rest ? Pace::only_warm : Pace::any);
  if (moved || !is_shortage(moved)) return moved;
  if (!is_rest && !is_full_of_started(id)) {
    if (moved.error().errno_value == EAGAIN) moved = wait_for_room(id, left);
    if (moved || !is_shortage(moved)) return moved;
    rest_until_ns_[index(id)].store(now_ns() + rest_ns, std::memory_order_relaxed);
  }
  return run(Id::cpu, left);
}

/// What failed for good is not tried again. EAGAIN and EOPNOTSUPP: not now, or not this copy.
void DeviceEngines::note_failure(Id id, int error) noexcept {
  if (error != EAGAIN && error != EOPNOTSUPP) usable_[index(id)].store(false, std::memory_order_release);
}

/// Of a copy that this engine would have served: whether it would still be warm, had it served the last such copy.
bool DeviceEngines::should_warm_up(Id id, std::size_t size_bytes) noexcept {
  const std::int64_t now = now_ns();
  const std::int64_t since = now - last_demand_ns_[index(id)].load(std::memory_order_relaxed);
  const auto estimate_ns = static_cast<std::int64_t>(std::min(size_bytes, largest_estimated_bytes));
  last_demand_ns_[index(id)].store(now + estimate_ns, std::memory_order_relaxed);
  return since < place_.residence.idle.count() / 4 * 3;
}

void DeviceEngines::note_end_of_demand(Id id, std::size_t size_bytes) noexcept {
  if (size_bytes > largest_estimated_bytes) last_demand_ns_[index(id)].store(now_ns(), std::memory_order_relaxed);
}

bool DeviceEngines::try_cpu_copy(const Choice& choice, const Copy& copy) noexcept {
  if (choice.cold != Id::cpu) return false;
  const bool can_get_warm = choice.warm != Id::cpu && is_usable(choice.warm);
  if (can_get_warm && (engines_[index(choice.warm)]->is_warm() || should_warm_up(choice.warm, copy.size_bytes))) {
    return false;
  }
  copy_by_cpu(*copy.copier, copy.direction, copy.mapped, copy.host, copy.size_bytes);
  if (can_get_warm) note_end_of_demand(choice.warm, copy.size_bytes);
  return true;
}

base::Status DeviceEngines::run_fastest(const Copy& copy) noexcept {
  Copy left = copy;
  const Choice choice = table_.choose(copy.direction, copy.host_memory, copy.size_bytes);
  bool is_cold = false;
  if (choice.warm != choice.cold && is_usable(choice.warm)) {
    base::Status moved = run(choice.warm, left, Pace::only_warm);
    if (moved || moved.error().errno_value == ETIMEDOUT) return moved;
    note_failure(choice.warm, moved.error().errno_value);
    is_cold = moved.error().errno_value == EAGAIN;
    // That takes as long as a copy.
    if (is_cold && should_warm_up(choice.warm, copy.size_bytes)) engines_[index(choice.warm)]->warm_up();
  }
  Id id = is_usable(choice.cold) ? choice.cold : Id::cpu;
  base::Status moved;
  for (;;) {
    moved = run(id, left);
    if (moved || moved.error().errno_value == ETIMEDOUT || id == Id::cpu) break;
    note_failure(id, moved.error().errno_value);
    id = Id::cpu;
  }
  if (is_cold) note_end_of_demand(choice.warm, copy.size_bytes);
  return moved;
}

}  // namespace gdrkit::engine
