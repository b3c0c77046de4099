// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Puts and gets through the copy library's engines on a GPU that other work fills: they take longer, but none fails.
// The contexts of the copy library in this program use the busy GPU instead of the CUDA driver.
#include "fakes/busy_gpu.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <climits>
#include <string>
#include <tuple>
#include <vector>

#include "core/open.hpp"
#include "gdrkit/gdrkit.h"
#include "support/device_access.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/shmem_job.hpp"

/// Replaces gdrkit_open (the linker's --wrap).
extern "C" int __wrap_gdrkit_open(const gdrkit_open_options*, gdrkit_context_t* context) {
  for (const gdrkit::backend::Registration& entry : gdrkit::backend::registrations()) {
    if (entry.automatic) continue;
    auto backend = entry.open({});
    if (!backend) return -backend.error().errno_value;
    const auto opened = gdrkit::core::open_with(std::move(*backend), {}, &gdrkit::fakes::busy_emulated_cuda());
    if (!opened) return -opened.error().errno_value;
    context->value = *opened;
    return 0;
  }
  return -ENODEV;
}

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;
using fakes::BusyGpu;
using fakes::Work;
using tests::succeeded;

constexpr Work works[] = {
    {"Idle", [](BusyGpu&) {}},
    {"NoLaunchHasResources", [](BusyGpu& busy) { busy.refused_launches = INT_MAX; }},
    {"LaunchesStart300msLate", [](BusyGpu& busy) { busy.late_launches = INT_MAX, busy.delay = 300ms; }},
    {"LaunchesAreSuspendedFor100ms", [](BusyGpu& busy) { busy.suspended_launches = 4, busy.delay = 100ms; }},
    {"SuspendedLaunchesEndWithoutACopy",
     [](BusyGpu& busy) { busy.suspended_launches = INT_MAX, busy.ends_when_resumed = true, busy.delay = 20ms; }},
    {"CopiesAreLate", [](BusyGpu& busy) { busy.late_copies = 10, busy.delay = 100ms; }},
};

class ShmemOnABusyGpu : public testing::TestWithParam<std::tuple<const char*, Work>> {};

TEST_P(ShmemOnABusyGpu, ThreadsPutAndGetCorrectly) {
  const auto& [engine, work] = GetParam();
  fakes::busy_gpu().reset();
  work.begin(fakes::busy_gpu());
  tests::ShmemJobOptions job;
  job.reading_engine = engine;
  tests::run_shmem_job(job, [](Pe& pe) {
    constexpr std::size_t room = 60'000;  // within the sizes that engines get
    constexpr int n_threads = 4;
    auto object = pe.allocate(n_threads * room, 64, true);
    ASSERT_TRUE(object) << object.error().text();
    std::vector<std::string> ends(n_threads);
    tests::run_together(n_threads, [&](int thread) {
      char* const at = static_cast<char*>(*object) + static_cast<std::size_t>(thread) * room;
      for (const std::size_t size : {8ul, 1025ul, 5000ul, room}) {
        const auto bytes = tests::make_pattern(size, static_cast<unsigned>(thread + 10 * pe.pe()));
        std::vector<std::uint8_t> seen(size);
        base::Status done = pe.transfers().put(at, bytes.data(), size, 1 - pe.pe(), false);
        if (done) done = pe.quiet();
        if (done) done = pe.transfers().get(seen.data(), at, size, 1 - pe.pe(), false);
        if (!done) ends[static_cast<std::size_t>(thread)] += done.error().text();
        if (seen != bytes) ends[static_cast<std::size_t>(thread)] += " wrong bytes of " + std::to_string(size);
      }
    });
    for (const std::string& end : ends) EXPECT_EQ(end, "");
    ASSERT_TRUE(succeeded(pe.barrier_all()));
  });
  const bool is_movers = std::string(engine) == "mover";
  if (is_movers) {
    EXPECT_GT(fakes::busy_gpu().launches, 0) << "the engine was used";
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShmemOnABusyGpu,
                         testing::Combine(testing::Values("automatic", "lanes", "copy_engine", "mover"),
                                          testing::ValuesIn(works)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param).name;
                         });

}  // namespace
}  // namespace gdrkit::shmem_impl::core
