// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Emulated device memory for tests of the C faces, and the environment that makes the faces use it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "driver/emulated_memory.hpp"
#include "support/device_access.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {

inline constexpr std::size_t gpu_page = 65536;

/// Emulated memory of four pages filled with a pattern. The device address is a CPU address too, so a test can read the
/// content without the library.
class OnEmulatedDevice : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"GDRKIT_COPY_KERNEL", "GDRKIT_ENGINE", "GDRCOPY_USE_DMABUF_MMAP", "GDRCOPY_ENABLE_LOGGING"})
      ::unsetenv(name);
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    before = count_process_resources();
    const base::Result<std::uint64_t> allocated = driver::emulated_allocate(memory_bytes, driver::EmulatedKind::device);
    ASSERT_TRUE(allocated) << allocated.error().text();
    memory = *allocated;
    device = reinterpret_cast<std::uint8_t*>(memory);
    expected = make_pattern(memory_bytes, 1);
    std::memcpy(device, expected.data(), memory_bytes);
  }

  void TearDown() override {
    EXPECT_TRUE(tests::succeeded(driver::emulated_free(memory)));
    EXPECT_EQ(count_process_resources(), before);
  }

  void expect_device_as_expected() {
    const std::vector<std::uint8_t> actual(device, device + memory_bytes);
    EXPECT_EQ(first_difference(actual, expected), memory_bytes);
  }

  static constexpr std::size_t memory_bytes = 4 * gpu_page;
  ProcessResources before;
  std::uint64_t memory = 0;
  std::uint8_t* device = nullptr;
  std::vector<std::uint8_t> expected;
};

}  // namespace gdrkit::tests
