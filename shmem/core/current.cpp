// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/core/current.hpp"

#include <pthread.h>

#include <atomic>
#include <cinttypes>
#include <map>
#include <mutex>
#include <new>

#include "shmem/bootstrap/star.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::uint64_t, std::unique_ptr<Pe>> pes;
  std::size_t ending = 0;  // PEs that drop_pe gave away and that have not ended
  std::uint64_t last_name = 0;
};

// Never destroyed: other threads may call until the very end of the process.
Registry& registry() noexcept {
  static auto* const one = new Registry;
  return *one;
}
std::atomic<std::uint64_t> changes{1};  // of the registry: invalidates what a thread has looked up
std::atomic<bool> is_forked{false};

/// What a call reads of its thread. It is one object because the address of a thread_local object costs a function
/// call: the faster initial-exec model would take memory that dlopen(3) cannot give once other libraries have used it
/// up.
struct Binding {
  CallSlot* slot = nullptr;
  std::uint64_t name = 0;  // 0: this thread chose none
  std::uint64_t changes_seen = 0;
  Pe* pe = nullptr;
};
constinit thread_local Binding binding;

// The child has this one thread, and the mutex that it took before the fork. Its parent's PEs stay as they are: their
// ends would write into memory and sockets that are the parent's.
void hold_registry() noexcept { registry().mutex.lock(); }
void release_registry() noexcept { registry().mutex.unlock(); }
void leave_parents_pes() noexcept {
  Registry& all = registry();
  for (auto& [name, pe] : all.pes) static_cast<void>(pe.release());
  if (!all.pes.empty() || all.ending != 0) is_forked.store(true, std::memory_order_relaxed);
  all.pes.clear();
  all.ending = 0;
  changes.fetch_add(1, std::memory_order_release);
  forget_running_calls(binding.slot);
  release_registry();
}

/// Binds this thread, and returns the name of its PE.
base::Result<std::uint64_t> bind_thread() noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto found = all.pes.find(binding.name);
  if (binding.name != 0 && found == all.pes.end()) binding.name = 0;
  if (binding.name == 0) {
    if (all.pes.empty() && is_forked.load(std::memory_order_relaxed)) return bootstrap::fail_forked();
    if (all.pes.empty())
      return base::fail(EINVAL, "cannot use gdrkit_shmem: this process has no PE; call gdrkit_shmem_init first");
    if (all.pes.size() > 1) {
      return base::fail(
          EINVAL, "cannot choose a PE: this process has %zu PEs; select the PE of this thread with gdrkit_shmem_use",
          all.pes.size());
    }
    found = all.pes.begin();
  }
  binding.pe = found->second.get();
  binding.changes_seen = changes.load(std::memory_order_relaxed);
  return found->first;
}

}  // namespace

bool is_forked_from_pe() noexcept { return is_forked.load(std::memory_order_relaxed); }

base::Result<std::uint64_t> keep_pe(std::unique_ptr<Pe> pe) noexcept try {
  static const int registered = ::pthread_atfork(hold_registry, release_registry, leave_parents_pes);
  if (registered != 0) return base::fail(registered, "cannot start the PE: pthread_atfork failed: out of memory");
  prepare_running_calls();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t name = ++all.last_name;
  all.pes.emplace(name, std::move(pe));
  changes.fetch_add(1, std::memory_order_release);
  binding.name = name;
  return name;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while starting a PE");
}

base::Result<PeCall> current_pe() noexcept {
  Binding& own = binding;
  if (own.slot == nullptr && !take_call_slot(own.slot)) {
    return base::fail_literal(ENOMEM, "out of memory during this thread's first call of gdrkit_shmem");
  }
  for (;;) {
    if (own.changes_seen != changes.load(std::memory_order_acquire)) {
      if (auto found = bind_thread(); !found) return base::pass(found);
    }
    begin_call(*own.slot, own.pe);
    // Only now is it certain that drop_pe does not end the PE: it counts the change first, and then checks for calls.
    if (own.changes_seen == changes.load(std::memory_order_acquire)) return PeCall(*own.slot, own.pe);
    end_call(*own.slot);
  }
}

base::Result<std::uint64_t> current_name() noexcept { return bind_thread(); }

base::Status use_pe(std::uint64_t name) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.pes.find(name);
  if (found == all.pes.end())
    return base::fail(EINVAL,
                      "cannot use the PE with handle %" PRIu64
                      ": this process has no such PE; pass a handle from gdrkit_shmem_current",
                      name);
  binding.name = name;
  binding.changes_seen = changes.load(std::memory_order_relaxed);
  binding.pe = found->second.get();
  return {};
}

base::Status for_each_pe(const std::function<base::Status(Pe&)>& function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  base::Status done;
  for (const auto& [name, pe] : all.pes) base::keep_first(done, function(*pe));
  return done;
}

void EndOfPe::operator()(Pe* pe) const noexcept {
  delete pe;
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (all.ending != 0) --all.ending;
}

base::Result<EndingPe> drop_pe() noexcept {
  auto name = current_name();
  if (!name) return base::pass(name);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  const auto found = all.pes.find(*name);
  if (found == all.pes.end()) return base::fail(EINVAL, "cannot use the PE of this thread: the PE has been finalized");
  if (binding.slot != nullptr && binding.slot->depth != 0) {
    return base::fail_literal(
        EBUSY, "cannot finalize the PE: this thread is inside a call on the same PE; return from the call first");
  }
  auto node = all.pes.extract(found);  // can be reinserted without an allocation
  changes.fetch_add(1, std::memory_order_seq_cst);
  ++all.ending;
  lock.unlock();
  const auto limit = node.mapped()->limit();
  if (!wait_for_calls(node.mapped().get(), limit.count() == 0 ? std::chrono::hours(24 * 365) : limit)) {
    lock.lock();
    --all.ending;
    all.pes.insert(std::move(node));
    changes.fetch_add(1, std::memory_order_release);
    return base::fail(ETIMEDOUT,
                      "cannot finalize the PE: a call of another thread did not return within %lld ms; end the call "
                      "and finalize again",
                      static_cast<long long>(limit.count()));
  }
  binding = {};
  return EndingPe(node.mapped().release());
}

}  // namespace gdrkit::shmem_impl::core
