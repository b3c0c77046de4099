// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Validation: compares the received bytes with the sent ones.
#pragma once

#include <cstdint>

#include "platform/device/device.hpp"
#include "transfer/osu/osu_loops.hpp"

namespace gdrkit::transfer::osu {

/// Collective. Runs one iteration with new bytes, and returns the number of wrong bytes on this rank, including one
/// past the end that must not change. Throws Failure.
[[nodiscard]] std::uint64_t count_wrong_bytes(const Part& part, Work work, platform::Device& device);

}  // namespace gdrkit::transfer::osu
