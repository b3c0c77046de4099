// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Every function of the C API in a forked child of a PE. The recorded interface is the list of functions, so that it
// includes each new function.
#include <dlfcn.h>
#include <gdrkit/shmem.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "tests/shmem/bootstrap/processes_as_pes.hpp"
#include "tests/shmem/capi/one_pe.hpp"

namespace {

using gdrkit::shmem_impl::tests::run_processes;
using ::testing::Contains;

/// Functions that need no PE, or create one.
const std::vector<std::string> without_pe = {"gdrkit_shmem_init",
                                             "gdrkit_shmem_init_shared",
                                             "gdrkit_shmem_finalize_shared",
                                             "gdrkit_shmem_get_unique_id",
                                             "gdrkit_shmem_release_unique_id",
                                             "gdrkit_shmem_last_error",
                                             "gdrkit_shmem_use",
                                             "gdrkit_shmem_use_mpi"};

std::vector<std::string> functions() {
  std::vector<std::string> all;
  std::ifstream recorded(GDRKIT_FUNCTIONS);
  const std::regex line_of_function(R"( *<elf-symbol name='(gdrkit_shmem_\w+)'.*)");
  for (std::string line; std::getline(recorded, line);) {
    std::smatch found;
    if (std::regex_match(line, found, line_of_function)) all.push_back(found[1]);
  }
  return all;
}

using Fork = gdrkit::tests::OnePe;

TEST_F(Fork, RejectsEveryCallOnTheParentsPe) {
  std::vector<std::string> all = functions();
  all.insert(all.end(), {"gdrkit_shmem_announce_exit", "gdrkit_shmem_announced_exit"});  // private: not recorded
  ASSERT_GT(all.size(), 50u);
  const auto ends = run_processes(1, [&](int) {
    std::string wrong;
    for (const std::string& function : all) {
      if (std::find(without_pe.begin(), without_pe.end(), function) != without_pe.end()) continue;
      using Call = int (*)(long, long, long, long, long, long, long, long, long, long);
      const auto call = reinterpret_cast<Call>(::dlsym(RTLD_DEFAULT, function.c_str()));
      if (call == nullptr) return "no function " + function;
      const int result = call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      if (result != -EACCES) wrong += function + " returns " + std::to_string(result) + "; ";
    }
    return wrong;
  });
  EXPECT_EQ(ends[0], "");
}

TEST_F(Fork, ChildBecomesASeparatePe) {
  const auto ends = run_processes(1, [](int) -> std::string {
    for (const bool is_shared : {false, true}) {
      if ((is_shared ? gdrkit_shmem_init_shared(nullptr) : gdrkit_shmem_init(nullptr)) != 0) {
        return gdrkit_shmem_last_error();
      }
      if (gdrkit_shmem_my_pe() != 0 || gdrkit_shmem_n_pes() != 1) return "it is another PE";
      std::uint64_t* word = nullptr;
      if (gdrkit_shmem_uint64_calloc(1, &word) != 0) return gdrkit_shmem_last_error();
      const std::uint64_t value = 7;
      std::uint64_t seen = 0;
      if (gdrkit_shmem_put(word, &value, 8, 0) != 0 || gdrkit_shmem_barrier_all() != 0 ||
          gdrkit_shmem_get(&seen, word, 8, 0) != 0 || seen != 7) {
        return gdrkit_shmem_last_error();
      }
      if ((is_shared ? gdrkit_shmem_finalize_shared() : gdrkit_shmem_finalize()) != 0) return gdrkit_shmem_last_error();
    }
    return gdrkit_shmem_my_pe() == -EACCES ? "" : "the parent's PE is bound again";
  });
  EXPECT_EQ(ends[0], "");
}

}  // namespace
