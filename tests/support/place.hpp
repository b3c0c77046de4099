// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Returns whether a program of gdrkit_add_place_tests runs on a GPU: both programs are linked from the same objects.
#pragma once

#include <cerrno>
#include <string_view>

namespace gdrkit::tests {

/// True in the program NAME_gpu_test; all others use the emulated device.
[[nodiscard]] inline bool is_gpu_place() {
  return std::string_view(program_invocation_short_name).find("_gpu_test") != std::string_view::npos;
}

[[nodiscard]] inline const char* place_name() { return is_gpu_place() ? "gpu" : "emulated"; }

}  // namespace gdrkit::tests
