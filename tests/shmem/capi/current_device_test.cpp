// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The device that a program has chosen before init, from the thread's current context.
#include "shmem/capi/current_device.hpp"

#include <gtest/gtest.h>

namespace gdrkit::shmem_impl::capi {
namespace {

TEST(ChosenDevice, UsesTheDeviceOfTheCurrentContext) {
  platform::CudaCalls calls{};
  EXPECT_EQ(chosen_device(nullptr), std::nullopt) << "no driver";
  EXPECT_EQ(chosen_device(&calls), std::nullopt) << "the driver lacks the function";
  calls.ctx_get_device = [](int*) { return 3; };
  EXPECT_EQ(current_device(&calls), std::nullopt) << "not initialised";
  calls.ctx_get_device = [](int* device) { return *device = 2, 201; };
  EXPECT_EQ(current_device(&calls), std::nullopt) << "no context";
  calls.ctx_get_device = [](int* device) { return *device = 0, 0; };
  EXPECT_EQ(current_device(&calls), 0);
  EXPECT_EQ(chosen_device(&calls), std::nullopt) << "device 0 is also what a program has that chose none";
  calls.ctx_get_device = [](int* device) { return *device = 3, 0; };
  EXPECT_EQ(chosen_device(&calls), 3);
}

}  // namespace
}  // namespace gdrkit::shmem_impl::capi
