// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/verbs_test.hpp"

namespace gdrkit::transfer::perftest {

const std::vector<VerbsTest>& all_verbs_tests() {
  static const std::vector<VerbsTest> all = {
#define GDRKIT_PERFTEST(name, title, verb, metric, size, iterations) \
  {#name, title, Verb::verb, Metric::metric, size, iterations},
#include "transfer/perftest/perftest_tests.def"
#undef GDRKIT_PERFTEST
  };
  return all;
}

}  // namespace gdrkit::transfer::perftest
