// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A context on a scripted backend, and a check that each test leaves no objects.
#pragma once

#include <gtest/gtest.h>

#include "core/copy_path.hpp"
#include "core/core.hpp"
#include "core/open.hpp"
#include "lib/core/scripted_backend.hpp"
#include "support/results.hpp"

namespace gdrkit::tests {

inline constexpr cpu::MappingType any_type = cpu::MappingType::none;

class OnScriptedBackend : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(script.device, nullptr);
    context = value_or_throw(open());
  }

  void TearDown() override {
    if (context != 0) {
      EXPECT_TRUE(tests::succeeded(core::close(context)));
    }
    EXPECT_EQ(script.mappings, 0);
    EXPECT_EQ(script.pins, 0);
    EXPECT_EQ(script.buffers, 0);
    EXPECT_EQ(script.backends, 0);
  }

  base::Result<core::Handle> open(const base::Settings& settings = {}) {
    return core::open_with(std::make_unique<ScriptedBackend>(script), settings);
  }

  /// Pins `size_bytes` at `offset` in the device memory.
  core::Handle pin(std::uint64_t offset = 0, std::size_t size_bytes = scripted_page_bytes) {
    return value_or_throw(core::pin(context, scripted_device_start + offset, size_bytes, {}));
  }

  core::Handle mapped_pin(std::uint64_t offset = 0, std::size_t size_bytes = scripted_page_bytes) {
    const core::Handle handle = pin(offset, size_bytes);
    const core::PinInfo info = value_or_throw(core::pin_info(context, handle));
    EXPECT_TRUE(tests::succeeded(core::map(context, handle, info.page_bytes, any_type)));
    return handle;
  }

  Script script;
  core::Handle context = 0;
};

/// The errno of a result; 0 for success.
template <class T>
int errno_of(const base::Result<T>& result) {
  return result ? 0 : result.error().errno_value;
}

}  // namespace gdrkit::tests
