// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The profile that "gdrkit tune" computes from measured times.
#include <gtest/gtest.h>

#include "measure/tune/tune.hpp"

namespace gdrkit::measure::tune {
namespace {

TEST(TuneProfile, SelectsTheFastestEngineForEachSizeRange) {
  EngineTimes times{"from_device", "pinned", {}, {}};
  times.warm["cpu"] = {{1024, 1.0}, {2048, 2.0}, {4096, 4.0}};
  times.warm["mover"] = {{1024, 3.0},     {2048, 3.0},     {4096, 3.1},      {8192, 3.2},
                         {1048576, 24.0}, {4194304, 80.0}, {16777216, 330.0}};
  times.warm["copy_engine"] = {{1024, 7.0},     {2048, 7.0},     {4096, 7.0},      {8192, 7.0},
                               {1048576, 26.0}, {4194304, 83.0}, {16777216, 310.0}};
  times.cold["cpu"] = {{1024, 1.1}, {2048, 2.1}, {4096, 4.1}};
  times.cold["mover"] = {
      {1024, 0.5}, {4096, 0.5}, {1048576, 20.0}};  // such a launch is never a choice, regardless of its speed
  times.cold["copy_engine"] = {{1024, 9.0},     {2048, 9.0},     {4096, 9.0},      {8192, 9.0},
                               {1048576, 28.0}, {4194304, 85.0}, {16777216, 312.0}};
  EXPECT_EQ(profile_text({times}),
            "gdrkit engines 1\n"
            "from_device pinned 2048 cpu cpu\n"
            "from_device pinned 4096 mover cpu\n"
            "from_device pinned 1048576 mover copy_engine\n"
            "from_device pinned 0 copy_engine copy_engine\n");
}

TEST(TuneProfile, PrefersTheCpuWithinTheNoise) {
  EngineTimes times{"to_device", "ordinary", {}, {}};
  times.warm["cpu"] = {{1024, 1.0}, {2048, 1.02}, {4096, 2.0}};
  times.warm["lanes"] = {{1024, 1.1}, {2048, 1.0}, {4096, 1.99}};
  times.cold = times.warm;
  EXPECT_EQ(profile_text({times}), "gdrkit engines 1\nto_device ordinary 0 cpu cpu\n");
  times.warm["lanes"][4096] = 1.92;
  EXPECT_EQ(profile_text({times}), "gdrkit engines 1\nto_device ordinary 0 cpu cpu\n");
  times.warm["lanes"][4096] = 1.88;
  EXPECT_EQ(profile_text({times}),
            "gdrkit engines 1\nto_device ordinary 2048 cpu cpu\nto_device ordinary 0 lanes cpu\n");
}

TEST(TuneProfile, UsesOtherCoresOnlyIfFaster) {
  EngineTimes times{"to_device", "pinned", {}, {}};
  times.warm["cpu"] = {{65536, 3.2}, {262144, 13.0}, {524288, 26.0}, {1048576, 52.0}};
  times.warm["lanes"] = {{65536, 3.6}, {262144, 9.5}, {524288, 17.0}, {1048576, 32.0}};
  times.warm["mover"] = {{65536, 5.5}, {262144, 10.6}, {524288, 17.2}, {1048576, 29.0}};
  times.warm["copy_engine"] = {{65536, 9.0}, {262144, 12.4}, {524288, 17.3}, {1048576, 27.0}};
  times.cold["cpu"] = times.warm["cpu"];
  for (const double within_3_percent : {17.3, 17.45}) {
    times.warm["copy_engine"][524288] = within_3_percent;
    EXPECT_EQ(profile_text({times}),
              "gdrkit engines 1\n"
              "to_device pinned 65536 cpu cpu\n"
              "to_device pinned 262144 lanes cpu\n"
              "to_device pinned 0 copy_engine cpu\n");
  }
  times.warm["copy_engine"][524288] = 17.6;  // then the mover, which uses multiprocessors, rather than cores
  EXPECT_EQ(profile_text({times}),
            "gdrkit engines 1\n"
            "to_device pinned 65536 cpu cpu\n"
            "to_device pinned 262144 lanes cpu\n"
            "to_device pinned 524288 mover cpu\n"
            "to_device pinned 0 copy_engine cpu\n");
}

}  // namespace
}  // namespace gdrkit::measure::tune
