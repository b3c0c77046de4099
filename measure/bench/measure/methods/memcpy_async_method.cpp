// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// memcpy_async_pageable and memcpy_async_pinned: the driver's asynchronous copies, each synchronized.
#include "measure/bench/measure/copy_method.hpp"

namespace gdrkit::measure::bench {
namespace {

template <const CopyMethod& method>
Contender async_contender(const CopySite& site, Direction direction) {
  platform::Device* const device = site.device;
  const std::uint64_t address = site.device_address;
  std::uint8_t* const host = site.host;
  const std::size_t size = site.size_bytes;
  const platform::Stream stream = site.stream;
  if (direction == Direction::to_device) {
    return contender_of(method.name, [=](std::size_t) {
      base::Status begun = device->copy_to_device_async(address, host, size, stream);
      return begun.has_value() ? device->synchronize(stream) : begun;
    });
  }
  return contender_of(method.name, [=](std::size_t) {
    base::Status begun = device->copy_to_host_async(host, address, size, stream);
    return begun.has_value() ? device->synchronize(stream) : begun;
  });
}

}  // namespace

const CopyMethod copy_methods::memcpy_async_pageable = {"memcpy_async_pageable",
                                                        "cudaMemcpyAsync + synchronize, pageable",
                                                        "Async+sync",
                                                        "pageable",
                                                        false,
                                                        nullptr,
                                                        &async_contender<memcpy_async_pageable>};
const CopyMethod copy_methods::memcpy_async_pinned = {"memcpy_async_pinned",
                                                      "cudaMemcpyAsync + synchronize, pinned",
                                                      "Async+sync",
                                                      "pinned",
                                                      true,
                                                      nullptr,
                                                      &async_contender<memcpy_async_pinned>};

}  // namespace gdrkit::measure::bench
