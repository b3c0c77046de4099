// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/core/running_calls.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <thread>

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;

std::atomic<CallSlot*> all_slots{nullptr};  // never freed: new threads reuse the slots of ended threads
std::atomic<bool> has_membarrier{false};

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

/// Executes a memory barrier on each thread of this process. The process must register first. This takes 10 to 20 ms
/// with several threads, so it is done here and not when a PE starts.
void pass_barrier() noexcept {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  (void)membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0) (void)membarrier(MEMBARRIER_CMD_GLOBAL);
}

/// Releases the slot when the thread ends. A later destructor of the thread may still call a function of the library;
/// that call takes another slot.
struct SlotOfThread {
  explicit SlotOfThread(CallSlot*& own) noexcept : own_(own) {}
  SlotOfThread(const SlotOfThread&) = delete;
  SlotOfThread& operator=(const SlotOfThread&) = delete;
  ~SlotOfThread() {
    if (own_ != nullptr) own_->is_taken.store(false, std::memory_order_release);
    own_ = nullptr;
  }

 private:
  CallSlot*& own_;
};

CallSlot* take_slot() noexcept {
  for (CallSlot* slot = all_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    bool is_taken = false;
    if (slot->is_taken.compare_exchange_strong(is_taken, true, std::memory_order_acq_rel)) return slot;
  }
  auto* const slot = new (std::nothrow) CallSlot;
  if (slot == nullptr) return nullptr;
  slot->is_taken.store(true, std::memory_order_relaxed);
  slot->next = all_slots.load(std::memory_order_relaxed);
  while (!all_slots.compare_exchange_weak(slot->next, slot, std::memory_order_acq_rel)) continue;
  return slot;
}

}  // namespace

bool take_call_slot(CallSlot*& own) noexcept {
  own = take_slot();
  [[maybe_unused]] thread_local const SlotOfThread slot_of_thread(own);
  return own != nullptr;
}

void prepare_running_calls() noexcept {
  const long commands = membarrier(MEMBARRIER_CMD_QUERY);
  has_membarrier.store(commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0, std::memory_order_relaxed);
}

void begin_call(CallSlot& slot, const Pe* pe) noexcept {
  if (slot.depth++ != 0) return;
  slot.pe.store(pe, std::memory_order_relaxed);
  if (has_membarrier.load(std::memory_order_relaxed)) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void end_call(CallSlot& slot) noexcept {
  if (--slot.depth == 0) slot.pe.store(nullptr, std::memory_order_release);
}

bool wait_for_calls(const Pe* pe, std::chrono::milliseconds limit) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (has_membarrier.load(std::memory_order_relaxed)) pass_barrier();
  const auto end = std::chrono::steady_clock::now() + limit;
  for (CallSlot* slot = all_slots.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    for (auto pause = 1us; slot->pe.load(std::memory_order_acquire) == pe;) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min<std::chrono::microseconds>(2 * pause, 1ms);
    }
  }
  return true;
}

void forget_running_calls(const CallSlot* own) noexcept {
  for (CallSlot* slot = all_slots.load(std::memory_order_relaxed); slot != nullptr; slot = slot->next) {
    if (slot == own) continue;
    slot->pe.store(nullptr, std::memory_order_relaxed);
    slot->depth = 0;
    slot->is_taken.store(false, std::memory_order_relaxed);
  }
}

}  // namespace gdrkit::shmem_impl::core
