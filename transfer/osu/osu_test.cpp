// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_test.hpp"

namespace gdrkit::transfer::osu {

const std::vector<OsuTest>& all_osu_tests() {
  static const std::vector<OsuTest> all = {
#define GDRKIT_OSU_TEST(name, title, loop, value, ranks, smallest) \
  {#name, title, Loop::loop, Value::value, Ranks::ranks, smallest},
#include "transfer/osu/osu_tests.def"
#undef GDRKIT_OSU_TEST
  };
  return all;
}

}  // namespace gdrkit::transfer::osu
