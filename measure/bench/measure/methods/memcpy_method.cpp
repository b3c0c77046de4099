// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// memcpy_pageable and memcpy_pinned: the driver's synchronous copies.
#include "measure/bench/measure/copy_method.hpp"

namespace gdrkit::measure::bench {
namespace {

template <const CopyMethod& method>
Contender contender(const CopySite& site, Direction direction) {
  platform::Device* const device = site.device;
  const std::uint64_t address = site.device_address;
  std::uint8_t* const host = site.host;
  const std::size_t size = site.size_bytes;
  if (direction == Direction::to_device) {
    return contender_of(method.name, [=](std::size_t) { return device->driver_copy_to_device(address, host, size); });
  }
  return contender_of(method.name, [=](std::size_t) { return device->copy_to_host(host, address, size); });
}

}  // namespace

const CopyMethod copy_methods::memcpy_pageable = {
    "memcpy_pageable", "cudaMemcpy, pageable", "cudaMemcpy", "pageable", false, nullptr, &contender<memcpy_pageable>};
const CopyMethod copy_methods::memcpy_pinned = {"memcpy_pinned", "cudaMemcpy, pinned",     "cudaMemcpy", "pinned", true,
                                                nullptr,         &contender<memcpy_pinned>};

}  // namespace gdrkit::measure::bench
