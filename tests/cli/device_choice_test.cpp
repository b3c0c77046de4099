// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/device_choice.hpp"

#include <gtest/gtest.h>

namespace gdrkit::tools {
namespace {

GpuFacts absent() {
  GpuFacts facts;
  facts.is_cuda_absent = true;
  facts.cuda_failure = "no driver library";
  return facts;
}

void expect_cannot_run(const GpuFacts& facts, const std::string& word) {
  try {
    (void)choose_device(facts);
    FAIL() << "a device was chosen";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::cannot_run);
    EXPECT_NE(std::string(failure.what()).find(word), std::string::npos) << failure.what();
  }
}

TEST(DeviceChoice, IsTheGpuWhereCudaShowsOne) {
  GpuFacts facts;
  facts.cuda_devices = 2;
  const DeviceChoice choice = choose_device(facts);
  EXPECT_FALSE(choice.is_emulated);
  EXPECT_EQ(choice.note, "");
}

TEST(DeviceChoice, IsEmulatedWhereThereIsNoGpuAndNothingWasAskedForAndSaysSo) {
  const DeviceChoice choice = choose_device(absent());
  EXPECT_TRUE(choice.is_emulated);
  EXPECT_EQ(
      choice.note,
      "NOTE: running on the emulated device, which says nothing about hardware: no GPU found (no driver library)");
}

TEST(DeviceChoice, IsEmulatedWhenAskedForAlsoBesideAGpuAndSaysSo) {
  GpuFacts facts;
  facts.cuda_devices = 1;
  facts.forced_backend = "emulated";
  const DeviceChoice choice = choose_device(facts);
  EXPECT_TRUE(choice.is_emulated);
  EXPECT_EQ(choice.note.rfind("NOTE: ", 0), 0u);
}

TEST(DeviceChoice, NeverFallsToTheEmulatedOneWhereAGpusNodeIsThere) {
  GpuFacts facts = absent();
  facts.device_node = "/dev/nvidia0";
  facts.cuda_failure = "cuInit: CUDA_ERROR_NO_DEVICE";
  expect_cannot_run(facts, "CUDA_ERROR_NO_DEVICE");
  expect_cannot_run(facts, "/dev/nvidia0");
}

TEST(DeviceChoice, NeverFallsToTheEmulatedOneWhereCudaIsBroken) {
  GpuFacts facts = absent();
  facts.is_cuda_absent = false;
  facts.cuda_failure = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
  expect_cannot_run(facts, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
}

TEST(DeviceChoice, NeverReplacesAForcedBackendByTheEmulatedOne) {
  GpuFacts facts = absent();
  facts.forced_backend = "rm";
  expect_cannot_run(facts, "'rm'");
}

}  // namespace
}  // namespace gdrkit::tools
