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
  const auto info = tests::value_or_throw(context_info(context));
  EXPECT_STREQ(info.traits.name, "scripted");
  EXPECT_EQ(info.traits.page_size_bytes, tests::scripted_page_bytes);
  EXPECT_STRNE(info.store_kernel_name, "");
  EXPECT_STRNE(info.load_kernel_name, "");
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
  context = tests::value_or_throw(open());
  EXPECT_EQ(index_of(stale), index_of(context));
  EXPECT_NE(stale, context);
  EXPECT_EQ(errno_of(close(stale)), EINVAL);
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
  EXPECT_TRUE(tests::failed(close(context), EBUSY, "scripted: unmap fails"));
  EXPECT_EQ(script.unpin_calls, 2);
  EXPECT_EQ(script.backends, 0);
  EXPECT_EQ(errno_of(close(context)), EINVAL);
  context = 0;
}

TEST_F(Context, OpenRejectsAnUnknownCopyKernel) {
  base::Settings settings;
  settings.copy_kernel = "abacus";
  EXPECT_TRUE(tests::failed(open(settings), EINVAL, HasSubstr("abacus")));
  settings.backend = "emulated";
  EXPECT_EQ(errno_of(core::open(settings)), EINVAL);
  EXPECT_EQ(script.backends, 1);
}

TEST_F(Context, ManyContextsHaveDifferentHandles) {
  std::set<Handle> handles;
  for (int i = 0; i < 200; ++i) {
    const auto opened = tests::value_or_throw(open());
    handles.insert(opened);
  }
  EXPECT_EQ(handles.size(), 200u);
  EXPECT_EQ(script.backends, 201);
  for (const Handle handle : handles) EXPECT_TRUE(close(handle));
}

}  // namespace
}  // namespace gdrkit::core
