// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "lib/core/context_fixture.hpp"
#include "support/results.hpp"

namespace gdrkit::core {
namespace {

using testing::HasSubstr;
using tests::errno_of;

class Context : public tests::OnScriptedBackend {};

TEST_F(Context, ReportsItsTraitsAndCopyKernels) {
  const base::Result<ContextInfo> info = context_info(context);
  ASSERT_TRUE(info);
  EXPECT_STREQ(info->traits.name, "scripted");
  EXPECT_EQ(info->traits.page_size_bytes, tests::scripted_page_bytes);
  EXPECT_STRNE(info->store_kernel_name, "");
  EXPECT_STRNE(info->load_kernel_name, "");
}

TEST_F(Context, HandleIsInvalidAfterClose) {
  const Handle stale = context;
  EXPECT_TRUE(close(context));
  context = 0;
  EXPECT_EQ(script.backends, 0);
  EXPECT_EQ(errno_of(close(stale)), EINVAL);
  EXPECT_EQ(errno_of(context_info(stale)), EINVAL);
  EXPECT_EQ(errno_of(core::pin(stale, tests::scripted_device_start, 1, {})), EINVAL);
}

TEST_F(Context, StaleHandleStaysInvalidAfterItsSlotIsReused) {
  const Handle stale = context;
  EXPECT_TRUE(close(context));
  const base::Result<Handle> again = open();
  ASSERT_TRUE(again);
  context = *again;
  EXPECT_EQ(index_of(stale), index_of(context));
  EXPECT_NE(stale, context);
  EXPECT_EQ(errno_of(close(stale)), EINVAL);
  EXPECT_TRUE(context_info(context));
}

TEST_F(Context, RejectsInvalidHandles) {
  const Handle a_pin = pin();
  for (const Handle bad : {Handle{0}, Handle{1}, ~Handle{0}, context ^ 1, context ^ Handle{1} << 40, a_pin,
                           reinterpret_cast<Handle>(&script)}) {
    EXPECT_EQ(errno_of(close(bad)), EINVAL) << bad;
    EXPECT_EQ(errno_of(context_info(bad)), EINVAL) << bad;
    EXPECT_EQ(errno_of(core::pin(bad, tests::scripted_device_start, 1, {})), EINVAL) << bad;
  }
  EXPECT_TRUE(context_info(context));
}

TEST_F(Context, CloseUnmapsAndUnpins) {
  mapped_pin(0);
  mapped_pin(1 << 17);
  pin(1 << 18);
  EXPECT_EQ(script.pins, 3);
  EXPECT_EQ(script.mappings, 2);
  EXPECT_TRUE(close(context));
  context = 0;
  EXPECT_EQ(script.unmap_calls, 2);
  EXPECT_EQ(script.unpin_calls, 3);
}

TEST_F(Context, PinsAndMappingsAreInvalidAfterClose) {
  const Handle handle = mapped_pin();
  EXPECT_TRUE(close(context));
  context = 0;
  std::uint8_t byte = 1;
  EXPECT_EQ(copy_to_mapping(handle, script.device, &byte, 1), EINVAL);
  EXPECT_EQ(core::write(handle, 0, &byte, 1), EINVAL);
  EXPECT_EQ(errno_of(unpin(std::nullopt, handle)), EINVAL);
  EXPECT_EQ(errno_of(unmap(std::nullopt, handle)), EINVAL);
  EXPECT_EQ(script.device[0], 0);
}

TEST_F(Context, CloseContinuesAfterErrorsAndReturnsTheFirst) {
  mapped_pin(0);
  mapped_pin(1 << 17);
  script.unmap_error = EBUSY;
  script.unpin_error = EIO;
  const base::Status closed = close(context);
  EXPECT_EQ(errno_of(closed), EBUSY);
  EXPECT_EQ(tests::text_of(closed), "scripted: unmap fails");
  EXPECT_EQ(script.unpin_calls, 2);
  EXPECT_EQ(script.backends, 0);
  EXPECT_EQ(errno_of(close(context)), EINVAL);
  context = 0;
}

TEST_F(Context, OpenRejectsAnUnknownCopyKernel) {
  base::Settings settings;
  settings.copy_kernel = "abacus";
  const auto failed = open(settings);
  EXPECT_EQ(errno_of(failed), EINVAL);
  EXPECT_THAT(tests::text_of(failed), HasSubstr("abacus"));
  settings.backend = "emulated";
  EXPECT_EQ(errno_of(core::open(settings)), EINVAL);
  EXPECT_EQ(script.backends, 1);
}

TEST_F(Context, UsesTheForcedCopyKernel) {
  for (unsigned index = 0;; ++index) {
    const base::Result<CopyKernelReport> kernel = copy_kernel(index);
    if (!kernel) break;
    if (!kernel->is_usable) continue;
    base::Settings settings;
    settings.copy_kernel = kernel->name;
    const base::Result<Handle> opened = open(settings);
    ASSERT_TRUE(opened) << opened.error().text();
    EXPECT_STREQ(context_info(*opened)->store_kernel_name, kernel->name);
    EXPECT_TRUE(close(*opened));
  }
}

TEST_F(Context, ManyContextsHaveDifferentHandles) {
  std::set<Handle> handles;
  for (int i = 0; i < 200; ++i) {
    const base::Result<Handle> opened = open();
    ASSERT_TRUE(opened);
    handles.insert(*opened);
  }
  EXPECT_EQ(handles.size(), 200u);
  EXPECT_EQ(script.backends, 201);
  for (const Handle handle : handles) EXPECT_TRUE(close(handle));
}

}  // namespace
}  // namespace gdrkit::core
