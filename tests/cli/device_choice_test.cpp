// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/device_choice.hpp"

#include <gtest/gtest.h>

#include "support/throws_failure.hpp"

namespace gdrkit::cli {
namespace {

GpuFacts absent() {
  GpuFacts facts;
  facts.cuda_failure = "no driver library";
  return facts;
}

void expect_cannot_run(const GpuFacts& facts, const std::string& message) {
  const std::string remedy =
      "; set GDRKIT_BACKEND=emulated, or pass --emulated to gdrkit, to run on the emulated device";
  EXPECT_THAT([&] { (void)choose_device(facts); }, tests::throws_failure(ExitCode::cannot_run, message + remedy));
}

TEST(DeviceChoice, IsTheGpuIfCudaShowsOne) {
  GpuFacts facts;
  facts.cuda_devices = 2;
  const DeviceChoice choice = choose_device(facts);
  EXPECT_FALSE(choice.is_emulated);
  EXPECT_EQ(choice.note, "");
}

TEST(DeviceChoice, UsesAndReportsTheEmulatedDeviceOnRequest) {
  for (const int devices : {0, 1}) {
    GpuFacts facts = absent();
    facts.cuda_devices = devices;
    facts.forced_backend = "emulated";
    const DeviceChoice choice = choose_device(facts);
    EXPECT_TRUE(choice.is_emulated);
    EXPECT_EQ(
        choice.note,
        "NOTE: running on the emulated device, whose figures do not describe a GPU: GDRKIT_BACKEND is 'emulated'");
  }
}

TEST(DeviceChoice, IsAnErrorWithoutAGpuUnlessEmulationIsRequested) {
  expect_cannot_run(absent(), "cannot use a GPU: no GPU was found (no driver library)");
}

TEST(DeviceChoice, IsAnErrorIfCudaCannotUseTheGpu) {
  GpuFacts facts = absent();
  facts.device_node = "/dev/nvidia0";
  facts.cuda_failure = "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH";
  expect_cannot_run(facts, "cannot use the GPU /dev/nvidia0: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
}

TEST(DeviceChoice, NeverReplacesAForcedBackendByTheEmulatedOne) {
  GpuFacts facts = absent();
  facts.forced_backend = "rm";
  expect_cannot_run(facts, "cannot use a GPU with the backend 'rm': no GPU was found (no driver library)");
}

}  // namespace
}  // namespace gdrkit::cli
