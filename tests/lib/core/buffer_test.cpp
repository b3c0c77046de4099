// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Buffers behind handles, on a scripted backend: the checks, errors, cleanup and frees of core.
#include <gmock/gmock.h>

#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/records.hpp"
#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"

namespace gdrkit::core {
namespace {

using testing::HasSubstr;
using tests::errno_of;
using tests::scripted_device_start;

class Buffer : public tests::OnScriptedBackend {
 protected:
  Handle buffer(std::size_t size_bytes = 4096, int device = 0) {
    return tests::value_or_throw(allocate_buffer(context, device, size_bytes));
  }
  std::uint8_t bytes[64] = {};
};

TEST_F(Buffer, ReportsAddressSizeAndDevice) {
  const Handle handle = buffer(1000, 3);
  const auto info = tests::value_or_throw(buffer_info(handle));
  EXPECT_EQ(info.address, scripted_device_start);
  EXPECT_EQ(info.size_bytes, 1000u);
  EXPECT_EQ(info.device, 3);
  EXPECT_EQ(script.last_device, 3);
  EXPECT_TRUE(free_buffer(handle));
  EXPECT_EQ(script.buffers, 0);
}

TEST_F(Buffer, RejectsCopiesOutsideIt) {
  const Handle handle = buffer(64);
  const std::vector<std::uint8_t> source = {1, 2, 3, 4};
  ASSERT_TRUE(copy_to_buffer(handle, 60, source.data(), 4));
  EXPECT_EQ(script.device[63], 4);
  ASSERT_TRUE(copy_from_buffer(handle, 61, bytes, 2));
  EXPECT_EQ(bytes[1], 3);
  const int calls = script.buffer_copy_calls;
  constexpr std::size_t huge = std::numeric_limits<std::size_t>::max();
  for (const auto& [offset, size] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 65}, {64, 1}, {61, 4}, {huge, 1}, {1, huge}, {huge, huge}, {65, 0}}) {
    EXPECT_EQ(errno_of(copy_to_buffer(handle, offset, source.data(), size)), EINVAL) << offset << " + " << size;
    EXPECT_EQ(errno_of(copy_from_buffer(handle, offset, bytes, size)), EINVAL) << offset << " + " << size;
  }
  EXPECT_THAT(tests::text_of(copy_from_buffer(handle, 0, bytes, 65)), HasSubstr("64 bytes"));
  EXPECT_EQ(errno_of(copy_to_buffer(handle, 0, nullptr, 1)), EINVAL);
  EXPECT_EQ(errno_of(copy_from_buffer(handle, 0, nullptr, 1)), EINVAL);
  EXPECT_TRUE(copy_to_buffer(handle, 0, nullptr, 0)) << "zero bytes";
  EXPECT_EQ(script.buffer_copy_calls, calls) << "the backend must not be called";
}

TEST_F(Buffer, ReturnsErrorsOfTheBackend) {
  script.allocate_error = ENODEV;
  const auto failed = allocate_buffer(context, 7, 64);
  EXPECT_EQ(errno_of(failed), ENODEV);
  EXPECT_THAT(tests::text_of(failed), HasSubstr("allocate fails"));
  script.allocate_error = 0;
  const Handle handle = buffer();
  script.buffer_copy_error = EIO;
  EXPECT_EQ(errno_of(copy_to_buffer(handle, 0, bytes, 1)), EIO);
  EXPECT_EQ(errno_of(copy_from_buffer(handle, 0, bytes, 1)), EIO);
  script.buffer_free_error = EBUSY;
  EXPECT_EQ(errno_of(free_buffer(handle)), EBUSY);
  EXPECT_EQ(errno_of(free_buffer(handle)), EINVAL) << "the handle is invalid even after a failed free";
  script.buffer_free_error = 0;
}

TEST_F(Buffer, RejectsSizeZeroAndInvalidResultsOfTheBackend) {
  EXPECT_EQ(errno_of(allocate_buffer(context, 0, 0)), EINVAL);
  EXPECT_EQ(script.allocate_calls, 0);
  script.bend_buffer = [](std::uint64_t* address, std::size_t*) { *address = 0; };
  EXPECT_EQ(errno_of(allocate_buffer(context, 0, 64)), EIO);
  script.bend_buffer = [](std::uint64_t*, std::size_t* size) { *size = 63; };
  EXPECT_EQ(errno_of(allocate_buffer(context, 0, 64)), EIO);
  script.bend_buffer = [](std::uint64_t* address, std::size_t*) { *address = UINT64_MAX - 62; };
  EXPECT_EQ(errno_of(allocate_buffer(context, 0, 64)), EIO);
  EXPECT_EQ(script.buffers, 0) << "rejected buffers must be freed";
}

TEST_F(Buffer, RejectsEveryInvalidHandle) {
  const Handle live = buffer();
  const Handle pinned = pin();
  const Handle stale = buffer();
  ASSERT_TRUE(free_buffer(stale));
  const Handle reused = buffer();  // in the slot of the stale handle
  for (const Handle wrong : {Handle{0}, Handle{1}, ~Handle{0}, live ^ 1, context, pinned, stale}) {
    EXPECT_EQ(errno_of(buffer_info(wrong)), EINVAL) << std::hex << wrong;
    EXPECT_EQ(errno_of(copy_to_buffer(wrong, 0, bytes, 1)), EINVAL) << std::hex << wrong;
    EXPECT_EQ(errno_of(copy_from_buffer(wrong, 0, bytes, 1)), EINVAL) << std::hex << wrong;
    EXPECT_EQ(errno_of(free_buffer(wrong)), EINVAL) << std::hex << wrong;
  }
  for (const Handle buffer_handle : {live, reused}) {
    EXPECT_EQ(errno_of(unpin(std::nullopt, buffer_handle)), EINVAL);
    EXPECT_EQ(errno_of(context_info(buffer_handle)), EINVAL);
    EXPECT_EQ(errno_of(close(buffer_handle)), EINVAL);
    EXPECT_TRUE(buffer_info(buffer_handle));
  }
  EXPECT_EQ(errno_of(allocate_buffer(live, 0, 64)), EINVAL);
}

TEST_F(Buffer, CloseFreesBuffersAfterPins) {
  std::string order;
  script.on_unpin = [&] { order += "unpin "; };
  script.on_buffer_free = [&] { order += "free "; };
  script.on_close = [&] { order += "close "; };
  const Handle first = buffer();
  buffer();
  mapped_pin();
  EXPECT_TRUE(close(context));
  context = 0;
  EXPECT_EQ(order, "unpin free free close ");
  EXPECT_EQ(errno_of(buffer_info(first)), EINVAL);
}

TEST_F(Buffer, CloseReturnsTheErrorOfAFreeAndContinues) {
  buffer();
  buffer();
  script.buffer_free_error = EBUSY;
  EXPECT_TRUE(tests::failed(close(context), EBUSY, HasSubstr("free fails")));
  context = 0;
  EXPECT_EQ(script.backends, 0);
  EXPECT_EQ(script.buffer_free_calls, 2);
}

TEST_F(Buffer, FreeSucceedsOnOneOfManyThreads) {
  for (int round = 0; round < 50; ++round) {
    const Handle handle = buffer();
    std::atomic<int> freed{0};
    tests::run_together(4, [&](int) {
      std::uint8_t byte = 1;
      const int copied = errno_of(copy_to_buffer(handle, 0, &byte, 1));
      EXPECT_TRUE(copied == 0 || copied == EINVAL) << copied;
      if (free_buffer(handle)) ++freed;
    });
    EXPECT_EQ(freed, 1);
  }
}

}  // namespace
}  // namespace gdrkit::core
