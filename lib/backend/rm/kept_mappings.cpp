// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/kept_mappings.hpp"

#include <algorithm>
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

std::optional<MappedParts> KeptMappings::take_any() noexcept {
  const std::lock_guard lock(mutex_);
  const auto kept = std::ranges::find_if(kept_, [](const Kept& each) { return each.owner != nullptr; });
  if (kept == kept_.end()) return std::nullopt;
  return std::exchange(*kept, {}).mapping;
}

void KeptMappings::abandon_after_fork(driver::System& system) noexcept {
  new (&mutex_) std::mutex;
  while (const auto kept = take_any()) {
    for (const MappedPart& part : kept->parts) system.close(part.device_fd);
  }
}

}  // namespace gdrkit::backend::rm
