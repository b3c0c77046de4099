// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Behavior of the emulated backend beyond the requirements for all backends (tests/conformance/backend).
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "backend/backend.hpp"
#include "platform/device/device.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

using platform::AllocationKind;

class EmulatedBackend : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Registration& registration : registrations()) {
      if (std::string(registration.name) != "emulated") continue;
      EXPECT_FALSE(registration.automatic) << "the library must not select it automatically";
      backend_ = tests::value_or_throw(registration.open({}));
    }
    ASSERT_NE(backend_, nullptr);
    device_ = tests::value_or_throw(platform::open_emulated_device(0));
    memory_ = tests::value_or_throw(device_->allocate(AllocationKind::cuda_malloc, 100'000));
  }

  [[nodiscard]] std::unique_ptr<BackendPin> pin() {
    PinRequest request;
    request.address = memory_.address();
    request.size_bytes = memory_.size_bytes();
    return tests::value_or_throw(backend_->pin(request));
  }

  std::unique_ptr<Backend> backend_;
  std::unique_ptr<platform::Device> device_;
  platform::Allocation memory_;
};

TEST_F(EmulatedBackend, HasTheTraitsOfAGpu) {
  EXPECT_EQ(backend_->traits().page_size_bytes, 65536U);
  EXPECT_TRUE(backend_->traits().is_persistent);
  EXPECT_FALSE(backend_->traits().supports_force_pcie);
  EXPECT_FALSE(backend_->traits().uses_dmabuf_mmap);
}

TEST_F(EmulatedBackend, MapsWriteCombiningWithoutVerification) {
  const auto pinned = pin();
  for (const MappingType type : {MappingType::none, MappingType::write_combining}) {
    const auto region = tests::value_or_throw(pinned->map(1, type));
    EXPECT_EQ(region.type, MappingType::write_combining);
    EXPECT_EQ(region.verification, Verification::none);
    EXPECT_TRUE(pinned->unmap());
  }
  for (const MappingType type : {MappingType::cached, MappingType::device}) {
    EXPECT_EQ(pinned->map(1, type).error().errno_value, EOPNOTSUPP);
  }
}

}  // namespace
}  // namespace gdrkit::backend
