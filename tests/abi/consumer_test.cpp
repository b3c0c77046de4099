// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "abi/consumer.h"

#include "lib/capi/emulated_fixture.hpp"

namespace gdrkit::tests {
namespace {

class CConsumer : public OnEmulatedDevice {};

TEST_F(CConsumer, RunsTheDropInExample) {
  EXPECT_EQ(consumer_runs_the_drop_in_example(memory, memory_bytes), 0);
  const std::uint32_t raised = 1;
  EXPECT_EQ(std::memcmp(device, "written by the CPU", 19), 0);
  EXPECT_EQ(std::memcmp(device + 4096, &raised, 4), 0);
  std::memcpy(expected.data(), "written by the CPU", 19);
  std::memcpy(&expected[4096], &raised, 4);
  expect_device_as_expected();
}

TEST_F(CConsumer, FlagsUseTheBitsOfTheBinaryInterface) {
  unsigned char bits[2] = {0xFF, 0xFF};
  EXPECT_EQ(consumer_sees_the_info_bits(memory, gpu_page, bits), 0);
  EXPECT_EQ(bits[0], 0);
  EXPECT_EQ(bits[1], 3);  // mapped, write-combining
}

TEST_F(CConsumer, UsesTheGdrkitApi) {
  EXPECT_EQ(consumer_uses_the_own_api(memory, memory_bytes), 0);
  std::memcpy(&expected[8], "written by C", 13);
  expect_device_as_expected();
}

}  // namespace
}  // namespace gdrkit::tests
