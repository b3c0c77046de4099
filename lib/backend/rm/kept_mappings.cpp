// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/kept_mappings.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace gdrkit::backend::rm {

bool KeptMappings::keep(const void* owner, MappedParts& mapping) noexcept {
  if (mapping.size_bytes > most_bytes_each) return false;
  const std::lock_guard lock(mutex_);
  const auto unused = std::ranges::find(kept_, nullptr, &Kept::owner);
  if (unused == kept_.end()) return false;
  *unused = {owner, std::exchange(mapping, {})};
  return true;
}

std::optional<MappedParts> KeptMappings::take(const void* owner) noexcept {
  const std::lock_guard lock(mutex_);
  const auto kept = std::ranges::find(kept_, owner, &Kept::owner);
  if (kept == kept_.end()) return std::nullopt;
  return std::exchange(*kept, {}).mapping;
}

bool KeptMappings::release_all() noexcept {
  std::unique_lock releasing(release_mutex_, std::try_to_lock);
  bool is_any = !releasing;
  if (!releasing) releasing.lock();
  Table taken;
  {
    const std::lock_guard lock(mutex_);
    std::swap(taken, kept_);
  }
  for (const Kept& kept : taken) {
    if (kept.owner == nullptr) continue;
    (void)release(kept.mapping);
    is_any = true;
  }
  return is_any;
}

base::Status KeptMappings::release(const MappedParts& mapping) noexcept {
  base::Status first;
  for (auto part = mapping.parts.rbegin(); part != mapping.parts.rend(); ++part) {
    base::keep_first(first, client_.unmap(part->device, part->object, part->linear_address));
  }
  base::keep_first(first, close_files(mapping));
  return first;
}

base::Status KeptMappings::close_files(const MappedParts& mapping) noexcept {
  base::Status first;
  for (auto part = mapping.parts.rbegin(); part != mapping.parts.rend(); ++part) {
    if (const int result = system_.close(part->device_fd); result < 0) {
      base::keep_first(first,
                       base::fail(-result, "cannot close /dev/nvidia%u: %s", part->minor, std::strerror(-result)));
    }
  }
  return first;
}

void KeptMappings::abandon_after_fork() noexcept {
  if (mutex_.try_lock()) {
    for (Kept& kept : kept_) {
      for (const MappedPart& part : kept.mapping.parts) system_.close(part.device_fd);
      kept.mapping.parts.clear();
      kept.owner = nullptr;
    }
  } else {
    new (&kept_) Table;  // not destroyed: the fork interrupted a thread that changed it
  }
  new (&mutex_) std::mutex;
  new (&release_mutex_) std::mutex;
}

}  // namespace gdrkit::backend::rm
