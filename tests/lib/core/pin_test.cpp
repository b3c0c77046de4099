// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::core {
namespace {

using testing::HasSubstr;
using tests::errno_of;
using tests::scripted_device_start;
using tests::scripted_page_bytes;

class Pin : public tests::OnScriptedBackend {
 protected:
  int pin_errno(std::uint64_t address, std::size_t size_bytes, const PinOptions& options = {}) {
    return errno_of(core::pin(context, address, size_bytes, options));
  }
  /// The error of a pin that must fail.
  base::Error pin_error(std::uint64_t address, std::size_t size_bytes) {
    const base::Result<Handle> pinned = core::pin(context, address, size_bytes, {});
    EXPECT_FALSE(pinned);
    return pinned ? base::Error() : pinned.error();
  }
};

TEST_F(Pin, ReportsTheUsersRangeAndItsPages) {
  const Handle handle = pin(100, scripted_page_bytes);
  const auto info = tests::value_or_throw(pin_info(context, handle));
  EXPECT_EQ(info.user_address, scripted_device_start + 100);
  EXPECT_EQ(info.user_bytes, scripted_page_bytes);
  EXPECT_EQ(info.page_address, scripted_device_start);
  EXPECT_EQ(info.page_bytes, 2 * scripted_page_bytes);
  EXPECT_EQ(info.page_size_bytes, scripted_page_bytes);
  EXPECT_FALSE(info.is_mapped);
  EXPECT_EQ(info.mapping_type, cpu::MappingType::none);
  EXPECT_EQ(info.mapping_address, nullptr);
}

TEST_F(Pin, PassesTheRequestToTheBackend) {
  script.traits.supports_force_pcie = true;
  const auto opened = tests::value_or_throw(open());
  ASSERT_TRUE(core::pin(opened, scripted_device_start + 5, 77, {.force_pcie = true, .exact_range = false}));
  EXPECT_EQ(script.last_request.address, scripted_device_start + 5);
  EXPECT_EQ(script.last_request.size_bytes, 77u);
  EXPECT_TRUE(script.last_request.force_pcie);
  EXPECT_FALSE(script.last_request.exact_range);
  EXPECT_TRUE(close(opened));
}

TEST_F(Pin, RejectsInvalidRangesWithoutCallingTheBackend) {
  EXPECT_EQ(pin_errno(0, 1), EINVAL);
  EXPECT_EQ(pin_errno(scripted_device_start, 0), EINVAL);
  EXPECT_EQ(pin_errno(UINT64_MAX - 5, 10), EINVAL);
  EXPECT_EQ(pin_errno(scripted_device_start, SIZE_MAX), EINVAL);
  EXPECT_EQ(pin_errno(scripted_device_start, 1, {.force_pcie = true}), EINVAL);
  EXPECT_EQ(script.pin_calls, 0);
}

TEST_F(Pin, ReturnsErrorAndTextOfTheBackend) {
  script.pin_error = EOPNOTSUPP;
  const base::Error error = pin_error(scripted_device_start, 1);
  EXPECT_EQ(error.errno_value, EOPNOTSUPP);
  EXPECT_STREQ(error.text(), "scripted: pin fails");
}

TEST_F(Pin, RejectsABackendThatPinnedOtherPages) {
  const std::pair<std::int64_t, std::int64_t> wrong[] = {{65536, 0}, {0, -65536}, {4096, 0}, {0, 4096}, {-65536, 0}};
  for (const auto& [move_address, move_bytes] : wrong) {
    script.bend_pin = [move_address, move_bytes](std::uint64_t* address, std::size_t* bytes) {
      *address += static_cast<std::uint64_t>(move_address);
      *bytes += static_cast<std::size_t>(move_bytes);
    };
    const base::Error error = pin_error(scripted_device_start + 3 * scripted_page_bytes, scripted_page_bytes);
    EXPECT_EQ(error.errno_value, EIO) << move_address;
    EXPECT_THAT(error.text(), HasSubstr("backend 'scripted' pinned the wrong range 0x"));
    EXPECT_EQ(script.pins, 0);
  }
}

TEST_F(Pin, KeepsTheFirstErrorIfCleanupFails) {
  script.bend_pin = [](auto*, std::size_t* bytes) { *bytes += 1; };
  script.unpin_error = ENXIO;
  const base::Error error = pin_error(scripted_device_start, 1);
  EXPECT_EQ(error.errno_value, EIO);
  EXPECT_THAT(error.text(), HasSubstr("backend 'scripted' pinned the wrong range 0x"));
}

TEST_F(Pin, HandleIsInvalidAfterUnpin) {
  const Handle handle = pin();
  EXPECT_TRUE(unpin(context, handle));
  EXPECT_EQ(script.pins, 0);
  EXPECT_EQ(errno_of(unpin(context, handle)), EINVAL);
  EXPECT_EQ(errno_of(unpin(std::nullopt, handle)), EINVAL);
  EXPECT_EQ(errno_of(pin_info(context, handle)), EINVAL);
  EXPECT_EQ(errno_of(is_invalidated(context, handle)), EINVAL);
  EXPECT_EQ(errno_of(map(context, handle, 1, tests::any_type)), EINVAL);
  EXPECT_EQ(errno_of(unmap(context, handle)), EINVAL);
  EXPECT_EQ(script.unpin_calls, 1);
}

TEST_F(Pin, StaleHandleStaysInvalidAfterItsSlotIsReused) {
  const Handle stale = mapped_pin();
  EXPECT_TRUE(unpin(context, stale));
  const Handle fresh = mapped_pin();
  EXPECT_EQ(index_of(stale), index_of(fresh));
  EXPECT_NE(stale, fresh);
  std::uint8_t byte = 42;
  EXPECT_EQ(copy_to_mapping(stale, script.device, &byte, 1), EINVAL);
  EXPECT_EQ(errno_of(unpin(std::nullopt, stale)), EINVAL);
  EXPECT_TRUE(pin_info(context, fresh)->is_mapped);
  EXPECT_EQ(script.device[0], 0);
}

TEST_F(Pin, UnpinWhileMappedUnmapsFirst) {
  const Handle handle = mapped_pin();
  bool was_mapped_at_unpin = true;
  script.on_unpin = [this, &was_mapped_at_unpin] { was_mapped_at_unpin = script.mappings != 0; };
  EXPECT_TRUE(unpin(context, handle));
  EXPECT_EQ(script.unmap_calls, 1);
  EXPECT_FALSE(was_mapped_at_unpin);
}

TEST_F(Pin, UnpinContinuesAfterErrorsAndReturnsTheFirst) {
  const Handle handle = mapped_pin();
  script.unmap_error = EBUSY;
  script.unpin_error = EIO;
  EXPECT_TRUE(tests::failed(unpin(context, handle), EBUSY, "scripted: unmap fails"));
  EXPECT_EQ(script.pins, 0);
  EXPECT_EQ(errno_of(unpin(context, handle)), EINVAL);
}

TEST_F(Pin, BelongsToOneContext) {
  const Handle handle = pin();
  const auto other = tests::value_or_throw(open());
  EXPECT_EQ(errno_of(unpin(other, handle)), EINVAL);
  EXPECT_EQ(errno_of(pin_info(other, handle)), EINVAL);
  EXPECT_EQ(errno_of(map(other, handle, 1, tests::any_type)), EINVAL);
  EXPECT_EQ(errno_of(unmap(other, handle)), EINVAL);
  EXPECT_EQ(errno_of(is_invalidated(other, handle)), EINVAL);
  EXPECT_TRUE(pin_info(std::nullopt, handle));
  EXPECT_TRUE(pin_info(context, handle));
  EXPECT_TRUE(close(other));
  EXPECT_EQ(errno_of(pin_info(other, handle)), EINVAL);
  EXPECT_TRUE(unpin(std::nullopt, handle));
}

TEST_F(Pin, SummaryEqualsInfoWhileThePinExists) {
  const Handle handle = pin(scripted_page_bytes, 100);
  const auto expect_equal = [&](cpu::MappingType type) {
    const std::optional<PinInfo> summary = pin_summary(context, handle);
    const base::Result<PinInfo> info = pin_info(context, handle);
    ASSERT_TRUE(summary && info);
    EXPECT_EQ(summary->page_address, info->page_address);
    EXPECT_EQ(summary->page_bytes, info->page_bytes);
    EXPECT_EQ(summary->page_size_bytes, info->page_size_bytes);
    EXPECT_EQ(summary->cost.cycles, info->cost.cycles);
    EXPECT_EQ(summary->cost.cycles_per_ms, info->cost.cycles_per_ms);
    EXPECT_EQ(summary->is_mapped, info->is_mapped);
    EXPECT_EQ(summary->mapping_type, type);
    EXPECT_EQ(info->mapping_type, type);
  };
  expect_equal(cpu::MappingType::none);
  ASSERT_TRUE(map(context, handle, 1, tests::any_type));
  expect_equal(script.type);
  ASSERT_TRUE(unmap(context, handle));
  expect_equal(cpu::MappingType::none);
  ASSERT_TRUE(unpin(context, handle));
  EXPECT_FALSE(pin_summary(context, handle));
  // Another pin in the same slot does not revive the handle.
  const Handle next = pin();
  EXPECT_FALSE(pin_summary(context, handle));
  EXPECT_TRUE(pin_summary(context, next));
}

TEST_F(Pin, HasNoSummaryForInvalidHandlesAndOtherContexts) {
  const Handle good = pin();
  const auto other = tests::value_or_throw(open());
  EXPECT_FALSE(pin_summary(other, good));
  EXPECT_FALSE(pin_summary(0, good));
  for (const Handle bad : {Handle{0}, Handle{1}, ~Handle{0}, good ^ 1, good ^ Handle{1} << 40, context}) {
    EXPECT_FALSE(pin_summary(context, bad)) << bad;
  }
  EXPECT_TRUE(close(other));
  EXPECT_TRUE(close(context));
  EXPECT_FALSE(pin_summary(context, good));
  context = 0;
}

TEST_F(Pin, HasNoSummaryIfItsMemoryCanBecomeInvalid) {
  script.keeps_memory = false;
  const Handle handle = mapped_pin();
  EXPECT_FALSE(pin_summary(context, handle));
  script.is_invalidated = true;
  EXPECT_EQ(pin_info(context, handle, Mapped::shown)->mapping_type, cpu::MappingType::none);
}

}  // namespace
}  // namespace gdrkit::core
