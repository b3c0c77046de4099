// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A job of one PE on the emulated device.
#pragma once

#include <gdrkit/shmem.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace gdrkit::tests {

inline gdrkit_shmem_options options_of_one_pe() {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  gdrkit_shmem_options options{};
  options.struct_size = sizeof options;
  options.n_pes = 1;
  options.heap_bytes = 1 << 20;
  options.heap_max_bytes = 1 << 22;
  return options;
}

/// The PE exists during the test.
class OnePe : public ::testing::Test {
 protected:
  void SetUp() override {
    const gdrkit_shmem_options options = options_of_one_pe();
    ASSERT_EQ(gdrkit_shmem_init(&options), 0) << gdrkit_shmem_last_error();
  }
  void TearDown() override { EXPECT_EQ(gdrkit_shmem_finalize(), 0) << gdrkit_shmem_last_error(); }
};

}  // namespace gdrkit::tests
