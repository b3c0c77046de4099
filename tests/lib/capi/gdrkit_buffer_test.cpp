// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Buffers of gdrkit's own API, in C and in C++, on the emulated device and through the shared library.
#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <vector>

#include "gdrapi.h"
#include "gdrkit/gdrkit.hpp"
#include "lib/capi/emulated_fixture.hpp"

namespace gdrkit::tests {
namespace {

using testing::HasSubstr;

class GdrkitBuffer : public OnGdrkitContext {
 protected:
  void TearDown() override {
    ::unsetenv("GDRKIT_EMULATED_DEVICES");
    OnGdrkitContext::TearDown();
  }

  gdrkit_buffer_t allocate(std::size_t size, int number = 0) {
    gdrkit_buffer_t buffer{};
    EXPECT_EQ(gdrkit_buffer_allocate(context, number, size, &buffer), 0) << gdrkit_last_error();
    return buffer;
  }
  gdrkit_buffer_info info_of(gdrkit_buffer_t buffer) {
    auto info = sized<gdrkit_buffer_info>();
    EXPECT_EQ(gdrkit_buffer_get_info(buffer, &info), 0);
    return info;
  }
};

TEST_F(GdrkitBuffer, SharesItsBytesWithTheMapping) {
  const gdrkit_buffer_t buffer = allocate(10'000);
  const gdrkit_buffer_info info = info_of(buffer);
  EXPECT_EQ(info.size_bytes, 10'000u);
  EXPECT_EQ(info.device, 0);
  gdrkit_pin_t pin{};
  void* address = nullptr;
  ASSERT_EQ(gdrkit_pin(context, info.device_address, 10'000, &pin), 0) << gdrkit_last_error();
  ASSERT_EQ(gdrkit_map(pin, nullptr, &address), 0) << gdrkit_last_error();
  const auto source = make_pattern(10'000, 3);
  std::vector<std::uint8_t> seen(10'000);
  ASSERT_EQ(gdrkit_write(pin, 0, source.data(), source.size()), 0);
  ASSERT_EQ(gdrkit_buffer_copy_to_host(buffer, 0, seen.data(), seen.size()), 0);
  EXPECT_EQ(seen, source);
  const auto part = make_pattern(100, 4);
  ASSERT_EQ(gdrkit_buffer_copy_from_host(buffer, 9'900, part.data(), part.size()), 0);
  seen.resize(100);
  ASSERT_EQ(gdrkit_read(pin, 9'900, seen.data(), seen.size()), 0);
  EXPECT_EQ(seen, part);
  // The pin keeps the memory when the buffer is freed, as after cudaFree.
  EXPECT_EQ(gdrkit_buffer_free(buffer), 0);
  ASSERT_EQ(gdrkit_read(pin, 9'900, seen.data(), seen.size()), 0);
  EXPECT_EQ(seen, part);
}

TEST_F(GdrkitBuffer, RejectsInvalidCallsWithTheReason) {
  gdrkit_buffer_t buffer{42};
  EXPECT_EQ(gdrkit_buffer_allocate(context, 0, 0, &buffer), -EINVAL);
  EXPECT_EQ(gdrkit_buffer_allocate(context, 0, 1, nullptr), -EINVAL);
  EXPECT_TRUE(failed(gdrkit_buffer_allocate(context, 1, 1, &buffer), ENODEV, HasSubstr("GDRKIT_EMULATED_DEVICES")));
  EXPECT_EQ(gdrkit_buffer_allocate(context, -1, 1, &buffer), -ENODEV);
  EXPECT_EQ(gdrkit_buffer_allocate(context, 0, SIZE_MAX, &buffer), -ENOMEM);
  EXPECT_EQ(buffer.value, 42u);
  const gdrkit_buffer_t live = allocate(100);
  std::array<std::uint8_t, 8> bytes{};
  EXPECT_EQ(gdrkit_buffer_copy_to_host(live, 93, bytes.data(), 8), -EINVAL);
  EXPECT_EQ(gdrkit_buffer_copy_from_host(live, SIZE_MAX, bytes.data(), 8), -EINVAL);
  EXPECT_EQ(gdrkit_buffer_copy_to_host(live, 0, nullptr, 8), -EINVAL);
  gdrkit_buffer_info info{};
  info.struct_size = sizeof info - 1;
  EXPECT_EQ(gdrkit_buffer_get_info(live, &info), -EINVAL);
  EXPECT_EQ(gdrkit_buffer_get_info(live, nullptr), -EINVAL);
  EXPECT_EQ(gdrkit_buffer_free(live), 0);
}

TEST_F(GdrkitBuffer, CountsTheConfiguredEmulatedDevices) {
  ::setenv("GDRKIT_EMULATED_DEVICES", "3", 1);
  gdrkit_context_t three{};
  ASSERT_EQ(gdrkit_open(nullptr, &three), 0) << gdrkit_last_error();
  gdrkit_buffer_t buffer{};
  ASSERT_EQ(gdrkit_buffer_allocate(three, 2, 10, &buffer), 0) << gdrkit_last_error();
  EXPECT_EQ(info_of(buffer).device, 2);
  EXPECT_EQ(gdrkit_buffer_allocate(three, 3, 10, &buffer), -ENODEV);
  EXPECT_EQ(gdrkit_close(three), 0) << "closing frees";
  ::setenv("GDRKIT_EMULATED_DEVICES", "many", 1);
  EXPECT_TRUE(failed(gdrkit_open(nullptr, &three), EINVAL, HasSubstr("many")));
}

TEST_F(GdrkitBuffer, WorksWithTheDropInLibrary) {
  const gdrkit_buffer_t buffer = allocate(2 * gpu_page);
  const gdr_t g = gdr_open();
  ASSERT_NE(g, nullptr);
  gdr_mh_t handle{};
  void* va = nullptr;
  ASSERT_EQ(gdr_pin_buffer(g, info_of(buffer).device_address, gpu_page, 0, 0, &handle), 0);
  ASSERT_EQ(gdr_map(g, handle, &va, gpu_page), 0);
  const char text[] = "by the other library";
  ASSERT_EQ(gdr_copy_to_mapping(handle, va, text, sizeof text), 0);
  char seen[sizeof text] = "";
  ASSERT_EQ(gdrkit_buffer_copy_to_host(buffer, 0, seen, sizeof seen), 0);
  EXPECT_STREQ(seen, text);
  EXPECT_EQ(gdr_close(g), 0);
}

static_assert(!std::is_copy_constructible_v<Buffer> && std::is_nothrow_move_constructible_v<Buffer>);

TEST_F(GdrkitBuffer, IsAnObjectInCxx) {
  Context own;
  Buffer buffer = own.allocate(4096);
  EXPECT_EQ(buffer.size(), 4096u);
  EXPECT_EQ(buffer.device(), 0);
  const Pin pin = own.pin(buffer);
  EXPECT_EQ(pin.info().user_address, buffer.device_address());
  EXPECT_EQ(pin.size(), 4096u);
  Mapping mapping = pin.map();
  mapping.write(8, std::array<std::uint32_t, 2>{1, 2});
  std::vector<std::uint32_t> seen(2);
  buffer.copy_to_host(8, seen);
  EXPECT_THAT(seen, testing::ElementsAre(1, 2));
  buffer.copy_from_host(12, std::array<std::uint32_t, 1>{7});
  EXPECT_EQ(mapping.load_flag<std::uint32_t>(12), 7u);
  Buffer moved = std::move(buffer);
  try {
    moved.copy_to_host(4092, seen);
    ADD_FAILURE() << "a copy past the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), std::errc::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("4096 bytes"));
  }
  EXPECT_THROW((void)own.allocate(1, 99), Error);
  moved.free();
  EXPECT_THROW(moved.copy_to_host(0, seen), Error);
}

}  // namespace
}  // namespace gdrkit::tests
