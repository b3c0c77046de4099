// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/fork_guard.hpp"

#include <pthread.h>
#include <ctime>

#include "core/records.hpp"

namespace gdrkit::core {
namespace {

constexpr time_t longest_wait_s = 2;

// Writers first: a steady stream of maps must not keep a fork waiting.
constexpr pthread_rwlock_t fresh_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
constinit pthread_rwlock_t map_lock = fresh_lock;
constinit bool prepare_holds_map_lock = false;  // written and read by the forking thread, under registry_mutex

// A backend may fork inside its own map (a vendor library that runs a helper program): no waiting for oneself then.
thread_local unsigned maps_of_this_thread = 0;

void prepare() noexcept {
  bool is_held = false;
  if (maps_of_this_thread == 0) {
    timespec deadline{};
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += longest_wait_s;
    is_held = pthread_rwlock_timedwrlock(&map_lock, &deadline) == 0;
  }
  registry_mutex.lock();
  prepare_holds_map_lock = is_held;
}

void parent() noexcept {
  const bool is_held = prepare_holds_map_lock;
  registry_mutex.unlock();
  if (is_held) pthread_rwlock_unlock(&map_lock);
}

/// The child has one thread. Locks other than registry_mutex may be held by threads that are gone: they are not
/// touched, and the slots they belong to are never used again.
void child() noexcept {
  pin_table.for_each([](PinSlot* slot) {
    slot->view.live.store(0, std::memory_order_relaxed);
    const bool is_whole =
        slot->handle.load(std::memory_order_relaxed) != 0 && !slot->is_busy.load(std::memory_order_relaxed);
    const ContextSlot* owner = context_table.find_live(slot->owner.load(std::memory_order_relaxed));
    if (is_whole && owner != nullptr && !owner->is_abandoned.load(std::memory_order_relaxed)) {
      slot->backend_pin->abandon_after_fork();
    }
  });
  context_table.for_each([](ContextSlot* slot) {
    if (slot->handle.load(std::memory_order_relaxed) == 0 || slot->is_abandoned.load(std::memory_order_relaxed)) return;
    slot->is_abandoned.store(true, std::memory_order_relaxed);
    slot->backend->abandon_after_fork();
  });
  pin_table.forget_free_slots();
  context_table.forget_free_slots();
  // Threads that waited for it are gone too, but the lock still counts them: start with a fresh one. Not while this
  // very thread is inside a map, which will release the one it has.
  if (maps_of_this_thread == 0) map_lock = fresh_lock;
  registry_mutex.unlock();
}

}  // namespace

base::Status install_fork_handlers() noexcept {
  static const int error = pthread_atfork(prepare, parent, child);
  if (error != 0) return base::fail(error, "pthread_atfork failed: no fork protection, so no context is opened");
  return {};
}

MapWindow::MapWindow() noexcept {
  pthread_rwlock_rdlock(&map_lock);
  ++maps_of_this_thread;
}

MapWindow::~MapWindow() {
  --maps_of_this_thread;
  pthread_rwlock_unlock(&map_lock);
}

}  // namespace gdrkit::core
