// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gdrkit/gdrkit.h"
#include "measure/sanity/sanity_test.hpp"

namespace gdrkit::measure::sanity {
namespace {

/// Names in the order of the registry.
std::vector<std::string> names_of(List list) {
  std::vector<std::string> names;
  for (const SanityTest& test : all_tests()) {
    if (test.list == list) names.push_back(test.name);
  }
  return names;
}

TEST(SanityRegistry, ListsGdrcopysTestsInItsOrder) {
  const std::vector<std::string> expected = {
      "attributes_sanity",
      "basic_child_thread_pins_buffer_cumemalloc",
      "basic_child_thread_pins_buffer_vmmalloc",
      "basic_cumemalloc",
      "basic_small_buffers_mapping",
      "basic_unaligned_mapping",
      "basic_v2_cumemalloc",
      "basic_v2_forcepci_cumemalloc",
      "basic_v2_forcepci_vmmalloc",
      "basic_v2_vmmalloc",
      "basic_vmmalloc",
      "basic_with_tokens",
      "data_validation_cumemalloc",
      "data_validation_mix_mappings_cumemalloc",
      "data_validation_v2_cumemalloc",
      "data_validation_v2_forcepci_cumemalloc",
      "data_validation_vmmalloc",
      "invalidation_access_after_free_cumemalloc",
      "invalidation_access_after_free_vmmalloc",
      "invalidation_access_after_gdr_close_cumemalloc",
      "invalidation_access_after_gdr_close_vmmalloc",
      "invalidation_fork_access_after_free_cumemalloc",
      "invalidation_fork_access_after_free_vmmalloc",
      "invalidation_fork_after_gdr_map_cumemalloc",
      "invalidation_fork_after_gdr_map_vmmalloc",
      "invalidation_fork_child_gdr_map_parent_cumemalloc",
      "invalidation_fork_child_gdr_map_parent_vmmalloc",
      "invalidation_fork_child_gdr_pin_parent_with_tokens",
      "invalidation_fork_map_and_free_cumemalloc",
      "invalidation_fork_map_and_free_vmmalloc",
      "invalidation_two_mappings_cumemalloc",
      "invalidation_two_mappings_vmmalloc",
      "invalidation_unix_sock_shared_fd_gdr_map_cumemalloc",
      "invalidation_unix_sock_shared_fd_gdr_map_vmmalloc",
      "invalidation_unix_sock_shared_fd_gdr_pin_buffer_cumemalloc",
      "invalidation_unix_sock_shared_fd_gdr_pin_buffer_vmmalloc",
  };
  EXPECT_EQ(names_of(List::original), expected);
  EXPECT_EQ(names_of(List::extended), (std::vector<std::string>{"leakage_pin_pages_fork_cumemalloc"}));
}

TEST(SanityRegistry, RunsOwnTestsAfterGdrcopysWithoutDuplicates) {
  std::set<std::string> seen;
  List last = List::original;
  for (const SanityTest& test : all_tests()) {
    EXPECT_TRUE(seen.insert(test.name).second) << test.name;
    EXPECT_GE(test.list, last) << test.name;
    last = test.list;
    EXPECT_NE(test.function, nullptr) << test.name;
  }
}

TEST(SanityRegistry, HasAlignmentAndPollingTestsForEveryCopyKernel) {
  const std::vector<std::string> own = names_of(List::own);
  unsigned kernels = 0;
  for (; const char* name = gdrkit_copy_kernel_name(kernels, nullptr); ++kernels) {
    for (const char* prefix : {"copy_kernel_", "polling_freshness_"}) {
      EXPECT_EQ(std::count(own.begin(), own.end(), std::string(prefix) + name), 1) << prefix << name;
    }
  }
  EXPECT_GT(kernels, 0u);
}

}  // namespace
}  // namespace gdrkit::measure::sanity
