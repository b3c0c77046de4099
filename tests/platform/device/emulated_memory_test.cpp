// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "platform/device/emulated_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "support/process_resources.hpp"
#include "support/results.hpp"
#include "support/test_thread.hpp"

namespace gdrkit::platform {
namespace {

using tests::count_process_resources;

std::uint8_t* bytes_at(std::uint64_t address) { return reinterpret_cast<std::uint8_t*>(address); }

TEST(SharedEmulatedMemory, ExportsOnlyExportableAllocations) {
  const auto before = count_process_resources();
  int file = -1;
  const auto exportable = tests::value_or_throw(emulated_allocate_exportable(emulated_page_bytes + 1, &file));
  EXPECT_EQ(emulated_find(exportable)->size_bytes, 2 * emulated_page_bytes);
  bytes_at(exportable)[7] = 0x5a;
  auto exported = emulated_export(exportable);
  ASSERT_TRUE(exported) << exported.error().text();
  std::uint8_t byte = 0;
  EXPECT_EQ(::pread(*exported, &byte, 1, 7), 1);
  EXPECT_EQ(byte, 0x5a);
  EXPECT_EQ(emulated_export(exportable + 1).error().errno_value, EINVAL);
  ::close(file);
  auto again = emulated_export(exportable);
  ASSERT_TRUE(again) << "by the descriptor that was exported: " << again.error().text();
  ::close(*exported);
  ::close(*again);
  EXPECT_EQ(emulated_export(exportable).error().errno_value, EOPNOTSUPP);
  const auto other =
      tests::value_or_throw(driver::emulated_allocate(emulated_page_bytes, driver::EmulatedKind::device));
  EXPECT_EQ(emulated_export(other).error().errno_value, EOPNOTSUPP);
  EXPECT_TRUE(tests::succeeded(driver::emulated_free(exportable)));
  EXPECT_TRUE(tests::succeeded(driver::emulated_free(other)));
  EXPECT_EQ(emulated_export(other).error().errno_value, EINVAL);
  EXPECT_EQ(emulated_allocate_exportable(SIZE_MAX, &file).error().errno_value, ENOMEM);
  EXPECT_EQ(count_process_resources(), before);
}

/// For the thread sanitizer, and for the duplicate: a checked descriptor may belong to another file a moment later.
TEST(SharedEmulatedMemory, IsExportedWhileOtherThreadsOpenAndCloseFiles) {
  int file = -1;
  const auto exportable = tests::value_or_throw(emulated_allocate_exportable(emulated_page_bytes, &file));
  bytes_at(exportable)[7] = 0x5a;
  // After the others, so that all of them are checked.
  const int last = ::fcntl(file, F_DUPFD_CLOEXEC, 64);
  ASSERT_GE(last, 64);
  ::close(file);
  tests::TestThread other([](const std::atomic<bool>& is_over) {
    while (!is_over.load()) {
      const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      ASSERT_GE(null, 0);
      int another = -1;
      const auto start = emulated_allocate_exportable(emulated_page_bytes, &another);
      ::close(null);
      ASSERT_TRUE(start) << start.error().text();
      ::close(another);
      EXPECT_TRUE(tests::succeeded(driver::emulated_free(*start)));
    }
  });
  for (int round = 0; round < 200; ++round) {
    auto exported = tests::value_or_throw(emulated_export(exportable));
    std::uint8_t byte = 0;
    EXPECT_EQ(::pread(exported, &byte, 1, 7), 1);
    EXPECT_EQ(byte, 0x5a);
    ::close(exported);
  }
  other.stop();
  ::close(last);
  EXPECT_TRUE(tests::succeeded(driver::emulated_free(exportable)));
}

}  // namespace
}  // namespace gdrkit::platform
