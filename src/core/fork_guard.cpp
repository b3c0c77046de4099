// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/fork_guard.hpp"

#include <pthread.h>
#include <ctime>

#include "core/records.hpp"

namespace gdrkit::core {
namespace {

constexpr time_t longest_wait_s = 2;

// Writers first: a steady stream of calls must not keep a fork waiting.
constexpr pthread_rwlock_t fresh_lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
constinit pthread_rwlock_t call_lock = fresh_lock;
constinit bool prepare_holds_lock = false;  // written and read by the forking thread, under registry_mutex

// A backend may fork inside its own call (a vendor library that runs a helper program), or come back in through an
// application's hook on the vendor library: no waiting for oneself then.
thread_local unsigned calls_of_this_thread = 0;

void prepare() noexcept {
  bool is_held = false;
  if (calls_of_this_thread == 0) {
    timespec deadline{};
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += longest_wait_s;
    is_held = pthread_rwlock_timedwrlock(&call_lock, &deadline) == 0;
  }
  registry_mutex.lock();
  prepare_holds_lock = is_held;
}

void parent() noexcept {
  const bool is_held = prepare_holds_lock;
  registry_mutex.unlock();
  if (is_held) pthread_rwlock_unlock(&call_lock);
}

/// The child has one thread. Locks other than registry_mutex may be held by threads that are gone: they are not
/// touched, and the slots they belong to are never used again.
void child() noexcept {
  pin_table.for_each([](PinSlot* slot) {
    slot->view.live.store(0, std::memory_order_relaxed);
    const bool is_whole =
        slot->handle.load(std::memory_order_relaxed) != 0 && slot->running_calls.load(std::memory_order_relaxed) == 0;
    if (is_whole && !slot->is_abandoned) slot->backend_pin->abandon_after_fork();
    slot->is_abandoned = true;
  });
  context_table.for_each([](ContextSlot* slot) {
    if (slot->handle.load(std::memory_order_relaxed) == 0 || slot->is_abandoned.load(std::memory_order_relaxed)) return;
    slot->is_abandoned.store(true, std::memory_order_relaxed);
    slot->backend->abandon_after_fork();
  });
  pin_table.forget_free_slots();
  context_table.forget_free_slots();
  if (prepare_holds_lock) pthread_rwlock_unlock(&call_lock);
  // Threads that held it, or waited for it, are gone but still counted: start with a fresh one. Not while this very
  // thread is inside a call, which will release the one it has.
  if (calls_of_this_thread == 0) call_lock = fresh_lock;
  registry_mutex.unlock();
}

}  // namespace

base::Status install_fork_handlers() noexcept {
  static const int error = pthread_atfork(prepare, parent, child);
  if (error != 0) return base::fail(error, "pthread_atfork failed: no fork protection, so no context is opened");
  return {};
}

BackendCall::BackendCall() noexcept {
  if (calls_of_this_thread++ == 0) pthread_rwlock_rdlock(&call_lock);
}

BackendCall::~BackendCall() {
  if (--calls_of_this_thread == 0) pthread_rwlock_unlock(&call_lock);
}

}  // namespace gdrkit::core
