// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Place: the CPU that a benchmark is bound to, and the NUMA nodes of this CPU, of its memory and of the GPU.
#pragma once

#include <string>

namespace gdrkit::platform {

/// -1: unknown or not bound.
struct Place {
  int cpu = -1;
  int cpu_node = -1;
  int memory_node = -1;
  int gpu_node = -1;
  std::string advice;  ///< a sentence if the benchmark runs on the wrong node; otherwise ""
};

}  // namespace gdrkit::platform
