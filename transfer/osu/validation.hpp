// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Validation: whether the bytes that were sent are those that came.
#pragma once

#include <cstdint>

#include "platform/device/device.hpp"
#include "transfer/osu/loops.hpp"

namespace gdrkit::transfer::osu {

/// Collective. One iteration with new bytes; how many of this rank's bytes are not what they must be, counting one
/// behind the end that must have stayed. Throws Failure.
[[nodiscard]] std::uint64_t count_wrong_bytes(const Part& part, Work work, platform::Device& device);

}  // namespace gdrkit::transfer::osu
