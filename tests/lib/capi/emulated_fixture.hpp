// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Emulated device memory for tests of the C faces, and the environment that makes the faces use it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "driver/emulated_memory.hpp"
#include "gdrkit/gdrkit.h"
#include "support/device_access.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {

inline constexpr std::size_t gpu_page = 65536;

/// A structure of gdrkit's API with its size.
template <class Struct>
[[nodiscard]] Struct sized() {
  Struct made{};
  made.struct_size = sizeof made;
  return made;
}

/// For EXPECT_TRUE: a function of gdrkit's API returned the negative of this errno, and gdrkit_last_error() matches.
[[nodiscard]] inline testing::AssertionResult failed(int result, int errno_value,
                                                     const testing::Matcher<std::string>& text) {
  const std::string message = gdrkit_last_error();
  if (result == -errno_value && text.Matches(message)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "result " << result << ", message: " << message << "\nexpected: result "
                                     << -errno_value << ", message " << testing::DescribeMatcher<std::string>(text);
}

/// Emulated memory of four pages filled with a pattern; the device address is a CPU address too, so that the content
/// can be read without the library.
class OnEmulatedDevice : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"GDRKIT_COPY_KERNEL", "GDRKIT_ENGINE", "GDRCOPY_USE_DMABUF_MMAP", "GDRCOPY_ENABLE_LOGGING"})
      ::unsetenv(name);
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    before = count_process_resources();
    memory = value_or_throw(driver::emulated_allocate(memory_bytes, driver::EmulatedKind::device));
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

/// With a context of gdrkit's API.
class OnGdrkitContext : public OnEmulatedDevice {
 protected:
  void SetUp() override {
    OnEmulatedDevice::SetUp();
    ASSERT_EQ(gdrkit_open(nullptr, &context), 0) << gdrkit_last_error();
  }
  void TearDown() override {
    if (context.value != 0) {
      EXPECT_EQ(gdrkit_close(context), 0);
    }
    OnEmulatedDevice::TearDown();
  }

  gdrkit_context_t context{};
};

}  // namespace gdrkit::tests
