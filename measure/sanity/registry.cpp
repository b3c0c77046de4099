// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Turns tests.def into the list of tests, and adds the tests for each copy kernel of the library.
#include <algorithm>

#include "gdrkit/gdrkit.h"
#include "measure/sanity/sanity_test.hpp"

namespace gdrkit::measure::sanity {

#define GDRKIT_SANITY(name, list, function, kind) void function(const Environment&);
#define GDRKIT_SANITY_COPY_KERNEL(prefix, function) void function(const Environment&);
#include "measure/sanity/tests.def"
#undef GDRKIT_SANITY
#undef GDRKIT_SANITY_COPY_KERNEL

namespace {

void add_for_each_copy_kernel(const char* prefix, TestFunction function, std::vector<SanityTest>* tests) {
  for (unsigned index = 0; const char* name = gdrkit_copy_kernel_name(index, nullptr); ++index) {
    tests->push_back(
        {std::string(prefix) + "_" + name, List::own, function, platform::AllocationKind::cuda_malloc, name});
  }
}

bool runs_before(const SanityTest& left, const SanityTest& right) {
  if (left.list != right.list) return left.list < right.list;
  // GDRCopy's lists run by name; ours in the order of the file, by topic.
  return left.list != List::own && left.name < right.name;
}

}  // namespace

std::vector<SanityTest> all_tests() {
  std::vector<SanityTest> listed;
  using Kind = platform::AllocationKind;
#define GDRKIT_SANITY(name, list, function, kind) listed.push_back({#name, List::list, &function, Kind::kind, ""});
#define GDRKIT_SANITY_COPY_KERNEL(prefix, function) add_for_each_copy_kernel(#prefix, &function, &listed);
#include "measure/sanity/tests.def"
#undef GDRKIT_SANITY
#undef GDRKIT_SANITY_COPY_KERNEL
  std::vector<SanityTest> tests;
  for (const SanityTest& test : listed) {
    tests.insert(std::upper_bound(tests.begin(), tests.end(), test, runs_before), test);
  }
  return tests;
}

}  // namespace gdrkit::measure::sanity
