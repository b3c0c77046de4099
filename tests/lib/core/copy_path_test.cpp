// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "core/copy_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "lib/core/context_fixture.hpp"
#include "support/device_access.hpp"

namespace gdrkit::core {
namespace {

using tests::any_type;
using tests::first_difference;
using tests::make_pattern;
using tests::scripted_device_bytes;
using tests::scripted_page_bytes;

// The user's range starts and ends inside pages, so bytes on both sides of it must stay unchanged.
constexpr std::uint64_t user_offset = scripted_page_bytes + 1000;
constexpr std::size_t user_bytes = 70000;
constexpr std::size_t page_offset = scripted_page_bytes;
constexpr std::size_t mapped_bytes = 2 * scripted_page_bytes;

class CopyPath : public tests::OnScriptedBackend {
 protected:
  void SetUp() override {
    OnScriptedBackend::SetUp();
    expected = make_pattern(scripted_device_bytes, 1);
    std::memcpy(script.device, expected.data(), expected.size());
    handle = mapped_pin(user_offset, user_bytes);
  }

  void expect_device_as_expected() {
    const std::vector<std::uint8_t> actual(script.device, script.device + scripted_device_bytes);
    EXPECT_EQ(first_difference(actual, expected), scripted_device_bytes);
  }

  Handle handle = 0;
  std::vector<std::uint8_t> expected;
};

TEST_F(CopyPath, WritesExactlyTheRange) {
  std::uint64_t seed = 2;
  for (const std::size_t size : {1U, 2U, 3U, 7U, 8U, 63U, 64U, 65U, 1000U, 4096U, 65537U}) {
    for (const std::size_t offset : {0U, 1U, 24U, 63U, 64U}) {
      const std::vector<std::uint8_t> source = make_pattern(size, seed++);
      ASSERT_EQ(write(handle, offset, source.data(), size), 0);
      std::memcpy(&expected[user_offset + offset], source.data(), size);
      ASSERT_EQ(copy_to_mapping(handle, script.device + page_offset + offset, source.data(), size), 0);
      std::memcpy(&expected[page_offset + offset], source.data(), size);
    }
  }
  expect_device_as_expected();
}

TEST_F(CopyPath, ReadsExactlyTheRange) {
  for (const std::size_t size : {1U, 2U, 3U, 7U, 8U, 63U, 64U, 65U, 1000U, 4096U, 65537U}) {
    for (const std::size_t offset : {0U, 1U, 24U, 63U, 64U}) {
      std::vector<std::uint8_t> target(size + 2, 0xEE);
      ASSERT_EQ(read(handle, offset, target.data() + 1, size), 0);
      EXPECT_EQ(std::memcmp(target.data() + 1, &expected[user_offset + offset], size), 0);
      const std::uint8_t* const source = script.device + page_offset + offset;
      std::fill_n(target.begin() + 1, size, std::uint8_t{0});
      ASSERT_EQ(copy_from_mapping(handle, target.data() + 1, source, size), 0);
      EXPECT_EQ(std::memcmp(target.data() + 1, &expected[page_offset + offset], size), 0);
      EXPECT_EQ(target.front(), 0xEE);
      EXPECT_EQ(target.back(), 0xEE);
    }
  }
}

TEST_F(CopyPath, RejectsRangesOutsideTheUsersRange) {
  std::vector<std::uint8_t> host(user_bytes + 1, 3);
  const std::pair<std::size_t, std::size_t> outside[] = {
      {user_bytes, 1}, {user_bytes - 1, 2}, {0, user_bytes + 1}, {user_bytes + 1, 0x10}, {SIZE_MAX, 1},
      {SIZE_MAX, 2},   {1, SIZE_MAX},       {SIZE_MAX - 3, 8},   {0, SIZE_MAX}};
  for (const auto& [offset, size] : outside) {
    EXPECT_EQ(write(handle, offset, host.data(), size), EINVAL) << offset << " " << size;
    EXPECT_EQ(read(handle, offset, host.data(), size), EINVAL) << offset << " " << size;
  }
  EXPECT_EQ(read(handle, user_bytes - 1, host.data(), 1), 0);
  EXPECT_EQ(host[0], expected[user_offset + user_bytes - 1]);
  expect_device_as_expected();
}

TEST_F(CopyPath, RejectsRangesOutsideTheMapping) {
  std::vector<std::uint8_t> host(mapped_bytes + 1, 3);
  std::uint8_t* const start = script.device + page_offset;
  const std::pair<std::uint8_t*, std::size_t> outside[] = {{start - 1, 1},
                                                           {start - 1, 2},
                                                           {start + mapped_bytes, 1},
                                                           {start + mapped_bytes - 1, 2},
                                                           {start, mapped_bytes + 1},
                                                           {start, SIZE_MAX},
                                                           {start + 8, SIZE_MAX - 4},
                                                           {nullptr, 1},
                                                           {reinterpret_cast<std::uint8_t*>(UINTPTR_MAX), 8}};
  for (const auto& [address, size] : outside) {
    EXPECT_EQ(copy_to_mapping(handle, address, host.data(), size), EINVAL) << size;
    EXPECT_EQ(copy_from_mapping(handle, host.data(), address, size), EINVAL) << size;
  }
  EXPECT_EQ(copy_from_mapping(handle, host.data(), start, mapped_bytes), 0);
  EXPECT_EQ(std::memcmp(host.data(), &expected[page_offset], mapped_bytes), 0);
  expect_device_as_expected();
}

TEST_F(CopyPath, ZeroBytesRequireNoHostPointer) {
  EXPECT_EQ(write(handle, 0, nullptr, 0), 0);
  EXPECT_EQ(read(handle, user_bytes, nullptr, 0), 0);
  EXPECT_EQ(copy_to_mapping(handle, nullptr, nullptr, 0), 0);
  EXPECT_EQ(copy_from_mapping(handle, nullptr, nullptr, 0), 0);
  std::uint8_t byte = 5;
  EXPECT_EQ(copy_to_mapping(handle, script.device + page_offset, &byte, 0), 0);
  EXPECT_EQ(copy_from_mapping(handle, &byte, script.device + page_offset, 0), 0);
  EXPECT_EQ(byte, 5);
  expect_device_as_expected();
}

TEST_F(CopyPath, ZeroBytesRequireAnOffsetInsideTheUsersRange) {
  std::uint8_t byte = 5;
  for (std::uint8_t* const host : {&byte, static_cast<std::uint8_t*>(nullptr)}) {
    for (const std::size_t offset : {user_bytes + 1, SIZE_MAX}) {
      EXPECT_EQ(write(handle, offset, host, 0), EINVAL) << offset;
      EXPECT_EQ(read(handle, offset, host, 0), EINVAL) << offset;
    }
  }
}

TEST_F(CopyPath, RejectsNullHostPointers) {
  EXPECT_EQ(write(handle, 0, nullptr, 1), EINVAL);
  EXPECT_EQ(read(handle, 0, nullptr, 1), EINVAL);
  EXPECT_EQ(copy_to_mapping(handle, script.device + page_offset, nullptr, 1), EINVAL);
  EXPECT_EQ(copy_from_mapping(handle, nullptr, script.device + page_offset, 1), EINVAL);
}

TEST_F(CopyPath, RequiresAMapping) {
  std::uint8_t byte = 1;
  const Handle unmapped = pin();
  EXPECT_EQ(write(unmapped, 0, &byte, 1), EINVAL);
  EXPECT_EQ(copy_from_mapping(unmapped, &byte, script.device, 1), EINVAL);
  EXPECT_EQ(write(unmapped, 0, &byte, 0), EINVAL);
  EXPECT_TRUE(unmap(context, handle));
  EXPECT_EQ(read(handle, 0, &byte, 1), EINVAL);
  EXPECT_EQ(copy_to_mapping(handle, script.device + page_offset, &byte, 1), EINVAL);
  expect_device_as_expected();
}

TEST_F(CopyPath, SmallerMappingTruncatesTheUsersRange) {
  EXPECT_TRUE(unmap(context, handle));
  ASSERT_TRUE(map(context, handle, 4096, any_type));
  std::uint8_t byte = 0;
  EXPECT_EQ(read(handle, 4096 - 1000 - 1, &byte, 1), 0);
  EXPECT_EQ(byte, expected[page_offset + 4095]);
  EXPECT_EQ(read(handle, 4096 - 1000, &byte, 1), EINVAL);
  const Handle far = pin(page_offset + 5000, 100);
  ASSERT_TRUE(map(context, far, 4096, any_type));
  EXPECT_EQ(read(far, 0, &byte, 1), EINVAL);
}

TEST_F(CopyPath, DoesNotChangeErrno) {
  errno = EXDEV;
  std::uint8_t byte = 1;
  EXPECT_EQ(write(handle, user_bytes, &byte, 1), EINVAL);
  EXPECT_EQ(read(0, 0, &byte, 1), EINVAL);
  EXPECT_EQ(errno, EXDEV);
}

}  // namespace
}  // namespace gdrkit::core
