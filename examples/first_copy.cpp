// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The README's program: the CPU stores into device memory, and the driver reads it back.
#include <cstdint>
#include <cstdio>
#include <gdrkit/gdrkit.hpp>
#include <vector>

int main() try {
  gdrkit::Context context;                    // opens a GPU; GDRKIT_BACKEND=emulated: the emulated device
  auto buffer = context.allocate(64 * 1024);  // device memory; a pointer from cudaMalloc works as well
  auto map = context.map(buffer);             // or gdrkit::map(device_pointer, size_bytes): any alignment, any size

  const std::vector<std::uint32_t> values(1024, 42);
  map.write(0, values);                    // CPU stores: host to device, no system call
  map.store_flag<std::uint32_t>(8192, 1);  // one store; the GPU sees it after all earlier writes

  std::vector<std::uint32_t> seen(values.size());
  std::vector<std::uint32_t> flag(1);
  buffer.copy_to_host(0, seen);  // copied by the driver, as a check of the device memory
  buffer.copy_to_host(8192, flag);
  const bool is_right = seen == values && flag[0] == 1 && map.load_flag<std::uint32_t>(8192) == 1;
  std::printf("%s: the device has %s\n", context.backend_name(), is_right ? "what the CPU stored" : "something else");
  return is_right ? 0 : 1;
} catch (const gdrkit::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
