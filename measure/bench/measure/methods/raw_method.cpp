// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// raw: the raw loop on the same mapping, which is the control of the others.
#include "measure/bench/measure/copy_method.hpp"

namespace gdrkit::measure::bench {
namespace {

/// The raw loops support powers of two only.
bool serves(const Session& session, std::size_t size_bytes) {
  return session.has_raw() && (size_bytes & (size_bytes - 1)) == 0;
}

Contender contender(const CopySite& site, Direction direction) {
  std::uint8_t* const device_side = site.buffer->user_pointer();
  std::uint8_t* const host_side = site.host;
  const std::size_t size = site.size_bytes;
  const measure::RawKind kind = site.session->raw_kind();
  const Rotation rotation(direction, size);
  const char* const name = copy_methods::raw.name;
  if (direction == Direction::from_device && rotation.is_rotating()) {
    return contender_of(name, [=](std::size_t number) {
      return measure::raw_load(kind, host_side, device_side + rotation.offset(number), size, 1);
    });
  }
  const auto copy = [=](std::size_t iterations) {
    return direction == Direction::to_device ? measure::raw_store(kind, device_side, host_side, size, iterations)
                                             : measure::raw_load(kind, host_side, device_side, size, iterations);
  };
  // The loop over iterations is inside, so that there is one call per batch.
  Contender contender;
  contender.name = name;
  contender.run_batch = [=](std::size_t count) {
    bool is_copied = true;
    const double ns = platform::time_batch(1, [&](std::size_t) { is_copied = copy(count); });
    check_copy(is_copied, name);
    return ns / static_cast<double>(count);
  };
  contender.run_once = [=](std::size_t) { check_copy(copy(1), name); };
  return contender;
}

}  // namespace

const CopyMethod copy_methods::raw = {"raw", "raw loop on the mapping", "", "raw loop", false, &serves, &contender};

}  // namespace gdrkit::measure::bench
