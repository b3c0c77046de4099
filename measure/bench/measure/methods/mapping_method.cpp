// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// mapping: gdr_copy_to_mapping and gdr_copy_from_mapping, as called by programs.
#include "measure/bench/measure/copy_method.hpp"

namespace gdrkit::measure::bench {
namespace {

Contender contender(const CopySite& site, Direction direction) {
  const gdr_mh_t handle = site.buffer->handle();
  std::uint8_t* const device_side = site.buffer->user_pointer();
  std::uint8_t* const host_side = site.host;
  const std::size_t size = site.size_bytes;
  const Rotation rotation(direction, size);
  const auto write = [=](std::size_t) { return gdr_copy_to_mapping(handle, device_side, host_side, size) == 0; };
  const auto read = [=](std::size_t number) {
    return gdr_copy_from_mapping(handle, host_side, device_side + rotation.offset(number), size) == 0;
  };
  const char* const name = copy_methods::mapping.name;
  return direction == Direction::to_device ? contender_of(name, write) : contender_of(name, read);
}

}  // namespace

const CopyMethod copy_methods::mapping = {"mapping", "through the mapping", "", "mapping", false, nullptr, &contender};

}  // namespace gdrkit::measure::bench
