// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The README's example: map device memory, write and read it with the CPU, raise a flag behind the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <gdrkit/gdrkit.hpp>
#include <vector>

/// true when what was read back is what was written. `device_pointer` is the start of at least `bytes` > 4096 bytes of
/// device memory, from cudaMalloc say.
inline bool first_copy(const void* device_pointer, std::size_t bytes) {
  std::vector<std::uint32_t> values(1024);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i * i);

  gdrkit::Context context;                        // the best backend that can run; throws with every backend's reason
  auto pin = context.pin(device_pointer, bytes);  // any alignment, any size, inside one allocation
  auto map = pin.map();                           // map.bytes() is a span over the user's own bytes

  map.write(0, values);                    // host to device; the stores have left the core when it returns
  map.store_flag(4096, std::uint32_t{1});  // in one piece, after everything written before it

  std::vector<std::uint32_t> seen(values.size());
  map.read(0, seen);  // device to host; never older than the call
  return seen == values && map.load_flag<std::uint32_t>(4096) == 1;
}
