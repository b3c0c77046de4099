// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/core/current.hpp"

#include <atomic>
#include <cinttypes>
#include <map>
#include <mutex>
#include <new>

namespace gdrkit::shmem {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::uint64_t, std::unique_ptr<Pe>> pes;
  std::uint64_t last_name = 0;
};

// Never destroyed: other threads may call until the very end of the process.
Registry& registry() noexcept {
  static auto* const one = new Registry;
  return *one;
}
std::atomic<std::uint64_t> changes{1};  // of the registry: what a thread looked up before may be gone

struct Binding {
  std::uint64_t name = 0;  // 0: this thread chose none
  std::uint64_t changes_seen = 0;
  Pe* pe = nullptr;
};
thread_local Binding binding;

base::Status look_up() noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  auto found = all.pes.find(binding.name);
  if (binding.name != 0 && found == all.pes.end()) binding.name = 0;
  if (binding.name == 0) {
    if (all.pes.empty()) return base::fail(EINVAL, "this process has no PE: gdrkit_shmem_init comes first");
    if (all.pes.size() > 1) {
      return base::fail(EINVAL, "this process has %zu PEs, and this thread chose none: gdrkit_shmem_use",
                        all.pes.size());
    }
    found = all.pes.begin();
  }
  binding.pe = found->second.get();
  binding.changes_seen = changes.load(std::memory_order_relaxed);
  return {};
}

}  // namespace

base::Result<std::uint64_t> keep_pe(std::unique_ptr<Pe> pe) noexcept try {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const std::uint64_t name = ++all.last_name;
  all.pes.emplace(name, std::move(pe));
  changes.fetch_add(1, std::memory_order_release);
  binding.name = name;
  return name;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while a PE was started");
}

base::Result<Pe*> current_pe() noexcept {
  if (binding.changes_seen != changes.load(std::memory_order_acquire)) {
    if (auto found = look_up(); !found) return base::pass(found);
  }
  return binding.pe;
}

base::Result<std::uint64_t> current_name() noexcept {
  auto pe = current_pe();
  if (!pe) return base::pass(pe);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& [name, kept] : all.pes) {
    if (kept.get() == *pe) return name;
  }
  return base::fail(EINVAL, "this thread's PE has been finalized");
}

base::Status use_pe(std::uint64_t name) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.pes.find(name);
  if (found == all.pes.end()) return base::fail(EINVAL, "this process has no PE with handle %" PRIu64, name);
  binding = {name, changes.load(std::memory_order_relaxed), found->second.get()};
  return {};
}

base::Status for_each_pe(const std::function<base::Status(Pe&)>& function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  base::Status done;
  for (const auto& [name, pe] : all.pes) base::keep_first(done, function(*pe));
  return done;
}

base::Result<std::unique_ptr<Pe>> drop_pe() noexcept {
  auto name = current_name();
  if (!name) return base::pass(name);
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.pes.find(*name);
  if (found == all.pes.end()) return base::fail(EINVAL, "this thread's PE has been finalized");
  auto pe = std::move(found->second);
  all.pes.erase(found);
  changes.fetch_add(1, std::memory_order_release);
  binding = {};
  return pe;
}

}  // namespace gdrkit::shmem
