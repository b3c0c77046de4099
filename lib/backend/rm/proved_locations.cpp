// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/proved_locations.hpp"

#include <algorithm>

namespace gdrkit::backend::rm {
namespace {

/// Only memory of cuMemAlloc in one object.
bool is_memorable(const DeviceRange& range, std::span<const OwnedPiece> pieces) noexcept {
  return range.attributes.is_legacy_ipc_capable != 0 && range.attributes.buffer_id != 0 && pieces.size() == 1 &&
         pieces[0].source.client != 0 && pieces[0].source.object != 0;
}

}  // namespace

bool ProvedLocations::contains(const DeviceRange& range, std::span<const OwnedPiece> pieces) noexcept {
  if (!is_memorable(range, pieces)) return false;
  const MemoryPiece& source = pieces[0].source;
  const std::lock_guard lock(mutex_);
  return std::any_of(locations_.begin(), locations_.end(), [&](const Location& known) {
    return known.buffer_id == range.attributes.buffer_id && known.device_ordinal == range.attributes.device_ordinal &&
           known.client == source.client && known.object == source.object &&
           known.object_start == range.page_address - source.offset && known.first <= range.page_address &&
           range.page_address + range.page_bytes <= known.end;
  });
}

void ProvedLocations::add(const DeviceRange& range, std::span<const OwnedPiece> pieces,
                          std::size_t mapped_bytes) noexcept {
  if (!is_memorable(range, pieces)) return;
  const MemoryPiece& source = pieces[0].source;
  const std::lock_guard lock(mutex_);
  locations_[next_] = {range.attributes.buffer_id,
                       range.attributes.device_ordinal,
                       source.client,
                       source.object,
                       range.page_address - source.offset,
                       range.page_address,
                       range.page_address + mapped_bytes};
  next_ = (next_ + 1) % most_locations;
}

}  // namespace gdrkit::backend::rm
