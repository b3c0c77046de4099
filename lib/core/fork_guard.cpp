// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/fork_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "core/records.hpp"

namespace gdrkit::core {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_wait_of_a_fork{2};
constexpr std::chrono::milliseconds longest_wait_of_a_call{100};
constexpr std::chrono::microseconds poll_interval{200};

// A call increments its counter and then reads that of forks; a fork increments its counter and then reads that of
// calls. All accesses are sequentially consistent, so one of the two sees the other. These are not locks, because both
// sides must be able to give up. A child would also have to repair locks that threads of the parent held or waited for.
constinit std::atomic<unsigned> threads_in_calls{0};
constinit std::atomic<unsigned> threads_in_forks{0};
constinit std::atomic<bool> is_installed{false};

// A backend may fork inside its own call, if a vendor library runs a helper program. It may also call the library again
// through an application's hook on the vendor library. The count prevents a thread from waiting for itself.
thread_local unsigned calls_of_this_thread = 0;
// True between prepare() and parent() or child(). If two threads install the handlers at once, they may be installed
// twice. An application's fork handler may call the library. Neither may wait for its own fork.
thread_local bool is_forking = false;

void prepare() noexcept {
  if (std::exchange(is_forking, true)) return;
  threads_in_forks.fetch_add(1);
  if (calls_of_this_thread != 0) return;
  const Clock::time_point deadline = Clock::now() + longest_wait_of_a_fork;
  while (threads_in_calls.load() != 0 && Clock::now() < deadline) std::this_thread::sleep_for(poll_interval);
}

void parent() noexcept {
  if (std::exchange(is_forking, false)) threads_in_forks.fetch_sub(1);
}

/// Waits for forks, so that a continuous stream of calls does not delay them.
void yield_to_forks() noexcept {
  const Clock::time_point deadline = Clock::now() + longest_wait_of_a_call;
  do {
    threads_in_calls.fetch_sub(1);
    std::this_thread::sleep_for(poll_interval);
    threads_in_calls.fetch_add(1);
  } while (threads_in_forks.load() != 0 && Clock::now() < deadline);
}

/// `kept` is the backend's object of the slot.
template <class Kept>
void abandon(OwnedSlot& slot, Kept* kept) noexcept {
  const bool is_whole = kept != nullptr && slot.running_calls.load(std::memory_order_relaxed) == 0;
  if (is_whole && !slot.is_abandoned) kept->abandon_after_fork();
  slot.is_abandoned = true;
}

/// The child has one thread. Threads that no longer exist may hold locks: those of slots are not accessed, and the
/// slots are never reused. Incomplete changes of the tables are harmless. The free lists are dropped, and a slot is
/// counted before a thread can lock it. The list of an inherited context is only tested for being empty.
void child() noexcept {
  if (!std::exchange(is_forking, false)) return;
  pin_table.for_each([](PinSlot* slot) {
    slot->view.live.store(0, std::memory_order_relaxed);
    slot->summary.withdraw();
    abandon(*slot, slot->backend_pin.get());
  });
  buffer_table.for_each([](BufferSlot* slot) { abandon(*slot, slot->backend_buffer.get()); });
  context_table.for_each([](ContextSlot* slot) {
    // The handle is not checked: it is 0 while a context is being closed, but resources are still open.
    if (slot->is_abandoned.exchange(true, std::memory_order_relaxed) || slot->backend == nullptr) return;
    slot->backend->abandon_after_fork();
  });
  backend::abandon_rm_after_fork();
  pin_table.forget_free_slots();
  buffer_table.forget_free_slots();
  context_table.forget_free_slots();
  new (&registry_mutex) std::mutex;
  threads_in_forks.store(0);
  threads_in_calls.store(calls_of_this_thread == 0 ? 0 : 1);
}

/// Never unmapped: threads may call in until the process ends.
void share_own_pid() noexcept {
  if (own_pid.load(std::memory_order_relaxed) != nullptr) return;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  std::atomic<pid_t>* none = nullptr;
  const bool is_kept = ::madvise(page, page_bytes, MADV_WIPEONFORK) == 0 &&
                       own_pid.compare_exchange_strong(none, new (page) std::atomic<pid_t>(0));
  if (!is_kept) ::munmap(page, page_bytes);
}

}  // namespace

constinit std::atomic<std::atomic<pid_t>*> own_pid{nullptr};

base::Status install_fork_handlers() noexcept {
  if (is_installed.load(std::memory_order_acquire)) return {};
  if (const int error = pthread_atfork(prepare, parent, child); error != 0) {
    return base::fail(error, "cannot open a context: pthread_atfork failed, so forks would be unsafe");
  }
  share_own_pid();
  is_installed.store(true, std::memory_order_release);
  return {};
}

BackendCall::BackendCall() noexcept {
  if (calls_of_this_thread++ != 0) return;
  threads_in_calls.fetch_add(1);
  if (threads_in_forks.load() != 0 && !is_forking) yield_to_forks();
}

BackendCall::~BackendCall() {
  if (--calls_of_this_thread == 0) threads_in_calls.fetch_sub(1);
}

}  // namespace gdrkit::core
