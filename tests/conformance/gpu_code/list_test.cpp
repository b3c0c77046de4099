// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Requirements of every GPU kernel of the list.
#include <set>
#include <string>

#include "gpu_kernels_conformance.hpp"
#include "platform/gpu_code/gate_params.hpp"

namespace gdrkit::platform {
namespace {

TEST(GpuKernelList, EveryGpuKernelHasATest) {
  std::set<std::string> listed;
  for (int index = 0; index < gpu_kernel_count; ++index) listed.insert(gpu_kernel_name(static_cast<GpuKernel>(index)));
  std::set<std::string> covered;
  for (const auto& [name, launch] : covered_gpu_kernels()) covered.insert(name);
  EXPECT_EQ(covered, listed);
}

TEST_F(GpuKernelConformance, RejectsUnsupportedLaunchShapes) {
  for (const LaunchShape shape : {LaunchShape{0, 1}, {1, 0}, {1, 1025}}) {
    for (const auto& [name, launch] : covered_gpu_kernels()) {
      EXPECT_TRUE(tests::failed(launch(*kernels_, shape, stream_), EINVAL,
                                testing::StartsWith("cannot launch GPU kernel '" + name + "': ")));
    }
  }
}

TEST_F(GpuKernelConformance, RejectsAnInvalidStream) {
  if (!device_->is_emulated()) GTEST_SKIP() << "an invalid stream is undefined behaviour in the driver";
  EXPECT_FALSE(kernels_->launch(GateParameters{}, {1, 1}, Stream{999}));
}

}  // namespace
}  // namespace gdrkit::platform
