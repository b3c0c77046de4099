// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The dmabuf backend as programs open it, on a fake libcuda whose dma-bufs are memory files.
#include <dlfcn.h>

#include "backend_conformance.hpp"
#include "support/results.hpp"

namespace gdrkit::backend {
namespace {

/// Its SONAME makes it libcuda.so.1 for the whole process.
bool is_stand_in_loaded() {
  static void* const library = ::dlopen(GDRKIT_STAND_IN_CUDA, RTLD_NOW | RTLD_LOCAL);
  return library != nullptr;
}

// The suite skips a backend that cannot run; here it must run.
TEST(StandInCuda, BackendOpensWithEmulatedCuda) {
  ASSERT_TRUE(is_stand_in_loaded()) << ::dlerror();
  auto device = platform::open_cuda_device(0);
  ASSERT_TRUE(device) << device.error().text();
  const auto opened = tests::value_or_throw(candidates().front().open());
  EXPECT_FALSE(opened->traits().is_untried);
}

}  // namespace

std::vector<Candidate> candidates() {
  (void)is_stand_in_loaded();
  std::vector<Candidate> all;
  for (const Registration& registration : registrations()) {
    if (std::string(registration.name) != "dmabuf") continue;
    Candidate candidate;
    candidate.name = candidate.backend = registration.name;
    candidate.open = [&registration] {
      base::Settings settings;
      settings.backend = registration.name;
      return registration.open(settings);
    };
    candidate.open_device = [] { return platform::open_cuda_device(0); };
    all.push_back(std::move(candidate));
  }
  return all;
}

}  // namespace gdrkit::backend
