// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Parameters and results of the GPU kernel `stream_value`, for the GPU and the CPU.
#pragma once

#include <cstdint>

namespace gdrkit::platform {

/// One block stores the data.
struct StreamValueParameters {
  static constexpr unsigned most_words = 128;
  std::uint64_t target;  ///< any alignment
  std::uint64_t size_bytes;
  std::uint64_t words[most_words];
};

}  // namespace gdrkit::platform
