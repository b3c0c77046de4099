// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/host_memory.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace gdrkit::platform {

namespace {

/// Sum of two fields of /proc/meminfo, in bytes; SIZE_MAX if the first field is missing.
std::size_t sum_of(const char* memory, const char* swap) noexcept {
  std::FILE* const file = std::fopen("/proc/meminfo", "re");
  if (file == nullptr) return SIZE_MAX;
  std::size_t sum_kib = 0;
  bool is_known = false;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    char name[64] = "";
    std::size_t kib = 0;
    if (std::sscanf(line, "%63[^:]: %zu", name, &kib) != 2) continue;
    const bool is_memory = std::strcmp(name, memory) == 0;
    if (is_memory || std::strcmp(name, swap) == 0) sum_kib += kib;
    is_known = is_known || is_memory;
  }
  (void)std::fclose(file);
  return is_known ? sum_kib * 1024 : SIZE_MAX;
}

}  // namespace

std::size_t available_host_bytes() noexcept { return sum_of("MemAvailable", "SwapFree"); }

std::size_t total_host_bytes() noexcept { return sum_of("MemTotal", "SwapTotal"); }

}  // namespace gdrkit::platform
