// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copies of several segments, and copies that are started now and finished later.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/copy_path.hpp"
#include "core/core.hpp"
#include "core/records.hpp"

namespace gdrkit::core {
namespace {

using engine::Direction;
using engine::Path;

base::Status check(const MappingView* view, std::span<const Segment> segments) noexcept {
  if (view == nullptr) return pin_is_not_mapped();
  const std::size_t mapped = view->path != nullptr ? view->path->size_bytes() : view->user_bytes;
  for (const Segment& segment : segments) {
    if (!is_inside(segment.offset, segment.size_bytes, mapped)) {
      return base::fail(EINVAL, "cannot copy segment %zu (%zu bytes at offset %zu): the mapping has %zu bytes",
                        static_cast<std::size_t>(&segment - segments.data()), segment.size_bytes, segment.offset,
                        mapped);
    }
    if (segment.host == nullptr && segment.size_bytes != 0) {
      return base::fail(EINVAL, "cannot copy segment %zu: the host pointer of the segment is NULL",
                        static_cast<std::size_t>(&segment - segments.data()));
    }
  }
  return {};
}

/// A copy that was started. It outlives its handle while a thread uses it.
class StartedCopy {
 public:
  StartedCopy(Handle pin, Path* path, std::size_t parts) : pin_(pin), path_(path) { parts_.reserve(parts); }
  [[nodiscard]] Handle pin() const noexcept { return pin_; }

  void start(const MappingView& view, bool is_write, std::span<const Segment> segments) noexcept {
    const Direction direction = is_write ? Direction::to_device : Direction::from_device;
    for (const Segment& segment : segments) {
      if (segment.size_bytes == 0) continue;
      if (path_ != nullptr) {
        parts_.push_back(path_->start(direction, segment.offset, segment.host, segment.size_bytes));
      } else {
        engine::copy_by_cpu(view.copier, direction, reinterpret_cast<void*>(view.user_base + segment.offset),
                            segment.host, segment.size_bytes);
      }
    }
  }
  [[nodiscard]] bool is_done() noexcept {
    const std::lock_guard lock(mutex_);
    return is_over_ ||
           std::all_of(parts_.begin(), parts_.end(), [&](const Path::Part& part) { return path_->is_done(part); });
  }
  base::Status finish() noexcept {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_over_, true)) {
      for (Path::Part& part : parts_) base::keep_first(outcome_, path_->finish(part));
    }
    return outcome_;
  }

 private:
  const Handle pin_;
  Path* const path_;  ///< nullptr: the CPU has copied everything
  std::mutex mutex_;
  bool is_over_ = false;
  base::Status outcome_;
  std::vector<Path::Part> parts_;
};

/// The started copies of one process. A forked child creates its own: a thread of the parent may have held the lock.
struct Registry {
  const pid_t pid = current_pid();
  std::mutex mutex;
  std::map<Handle, std::shared_ptr<StartedCopy>> copies;
};
std::atomic<Registry*> current_registry{nullptr};
std::atomic<std::uint64_t> last_copy{0};

Registry& registry() {
  Registry* known = current_registry.load(std::memory_order_acquire);
  if (known != nullptr && known->pid == current_pid()) return *known;
  auto made = std::make_unique<Registry>();
  if (current_registry.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *known;
}

base::Result<std::shared_ptr<StartedCopy>> find(Handle copy, bool removes) noexcept try {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.copies.find(copy);
  if (found == all.copies.end()) {
    return base::fail(EINVAL, "invalid copy handle 0x%llx: the copy is already finished or was never started",
                      static_cast<unsigned long long>(copy));
  }
  std::shared_ptr<StartedCopy> started = found->second;
  if (removes) all.copies.erase(found);
  return started;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while looking up a copy");
}

}  // namespace

base::Status copy_segments(Handle pin, bool is_write, std::span<const Segment> segments) noexcept try {
  const MappingView* const view = find_mapping(pin);
  if (base::Status possible = check(view, segments); !possible) return possible;
  StartedCopy copy(pin, view->path, segments.size());
  copy.start(*view, is_write, segments);
  return copy.finish();
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while copying segments");
}

base::Result<Handle> start_copy(Handle pin, bool is_write, std::span<const Segment> segments) noexcept try {
  const MappingView* const view = find_mapping(pin);
  if (base::Status possible = check(view, segments); !possible) return base::pass(possible);
  const auto copy = std::make_shared<StartedCopy>(pin, view->path, segments.size());
  const Handle handle = make_handle(HandleKind::copy, ++last_copy & last_generation, 0);
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.copies.emplace(handle, copy);
  }
  copy->start(*view, is_write, segments);  // nothing can fail after this, so every started part has a handle
  return handle;
} catch (const std::bad_alloc&) {
  return base::fail_literal(ENOMEM, "out of memory while starting a copy");
}

base::Result<bool> is_copy_done(Handle copy) noexcept {
  const auto started = find(copy, false);
  if (!started) return base::pass(started);
  return (*started)->is_done();
}

base::Status finish_copy(Handle copy) noexcept {
  const auto started = find(copy, true);
  return started ? (*started)->finish() : base::status_of(started);
}

void finish_copies_of(Handle pin) noexcept {
  Registry* const all = current_registry.load(std::memory_order_acquire);
  if (all == nullptr || all->pid != current_pid()) return;
  const std::lock_guard lock(all->mutex);
  for (const auto& [handle, copy] : all->copies) {
    if (copy != nullptr && copy->pin() == pin) (void)copy->finish();
  }
}

}  // namespace gdrkit::core
