// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/rank_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/facts/number_list.hpp"
#include "topology/written_machine.hpp"

namespace gdrkit::diag {
namespace {

class RankLayoutTest : public ::testing::Test, protected topology::WrittenMachine {
 protected:
  /// Second threads are numbered after all first ones.
  void put_processors(int cores) const {
    for (int cpu = 0; cpu < 2 * cores; ++cpu) {
      put("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          std::to_string(cpu % cores) + "," + std::to_string(cpu % cores + cores) + "\n");
    }
  }
  [[nodiscard]] std::vector<Core> cores(const std::string& cpus) const {
    return cores_of(view(), *platform::parse_number_list(cpus));
  }
};

std::string text(const std::vector<Core>& cores) { return platform::to_list_text(cpus_of(cores)); }

TEST_F(RankLayoutTest, EightGpusOfTwoSocketsHaveFourteenCoresEach) {
  put_processors(112);
  const auto first = cores("0-55,112-167");
  const auto second = cores("56-111,168-223");
  ASSERT_EQ(first.size(), 56u);
  EXPECT_EQ(text(slice_of(first, 0, 4)), "0-13,112-125");
  EXPECT_EQ(text(slice_of(first, 1, 4)), "14-27,126-139");
  EXPECT_EQ(text(slice_of(first, 2, 4)), "28-41,140-153");
  EXPECT_EQ(text(slice_of(first, 3, 4)), "42-55,154-167");
  EXPECT_EQ(text(slice_of(second, 0, 4)), "56-69,168-181");
  EXPECT_EQ(text(slice_of(second, 3, 4)), "98-111,210-223");
}

TEST_F(RankLayoutTest, SlicesCoverAllCoresOnceAndDifferByOneAtMost) {
  put_processors(13);
  const auto all = cores("0-25");
  ASSERT_EQ(all.size(), 13u);
  std::vector<int> seen;
  for (std::size_t index = 0; index < 4; ++index) {
    const auto slice = slice_of(all, index, 4);
    EXPECT_TRUE(slice.size() == 3 || slice.size() == 4) << slice.size();
    const auto cpus = cpus_of(slice);
    seen.insert(seen.end(), cpus.begin(), cpus.end());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(platform::to_list_text(seen), "0-25");
  EXPECT_EQ(seen.size(), 26u);
}

TEST_F(RankLayoutTest, SiblingsOutsideTheAllowedCpusAreLeftOut) {
  put_processors(4);
  EXPECT_EQ(cores("0,2,6"), (std::vector<Core>{{0}, {2, 6}}));
}

TEST_F(RankLayoutTest, WithoutOrWithWrongSiblingsACpuIsACore) {
  EXPECT_EQ(cores("0-2"), (std::vector<Core>{{0}, {1}, {2}}));
  put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "1-2\n");
  put("/sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "words\n");
  put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n");
  EXPECT_EQ(cores("0-2"), (std::vector<Core>{{0}, {1}, {2}}));
}

TEST_F(RankLayoutTest, FewerCoresThanPartsAreShared) {
  put_processors(2);
  const auto all = cores("0-3");
  EXPECT_EQ(text(slice_of(all, 0, 3)), "0,2");
  EXPECT_EQ(text(slice_of(all, 1, 3)), "1,3");
  EXPECT_EQ(text(slice_of(all, 2, 3)), "0,2");
  EXPECT_TRUE(slice_of({}, 0, 3).empty());
  EXPECT_TRUE(slice_of(all, 3, 3).empty());
  EXPECT_TRUE(slice_of(all, 0, 0).empty());
}

TEST_F(RankLayoutTest, AnEmptyMachineHasNoRanks) {
  put("/etc/hostname", "x\n");
  EXPECT_TRUE(lay_out(view(), {}, std::nullopt, false).ranks.empty());
  EXPECT_FALSE(recorded_cpus(view()).has_value());
}

}  // namespace
}  // namespace gdrkit::diag
