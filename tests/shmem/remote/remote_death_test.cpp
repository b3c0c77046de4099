// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Of three processes that reach each other by UCX only, one is killed at some step: the others' calls end within 10 s
// and name it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gdrkit/shmem_device.cuh"
#include "shmem/core/pe.hpp"
#include "support/requirements.hpp"
#include "support/results.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using gdrkit::tests::status_of;

constexpr int victim = 1;
constexpr std::size_t object_bytes = 256 << 10;

base::Result<std::unique_ptr<core::Pe>> start(const bootstrap::UniqueId& id, int pe, int n_pes,
                                              transport::RemoteWay way) {
  core::PeOptions options;
  options.n_pes = n_pes;
  options.pe = pe;
  options.unique_id = &id;
  options.limit = 60s;
  options.heap_bytes = std::uint64_t{1} << 20;
  options.heap_max_bytes = std::uint64_t{1} << 30;
  options.is_p2p_disabled = true;
  options.remote_way = way;
  // UCX's shared memory does not report a dead process: heartbeats do.
  if (std::string(std::getenv("UCX_TLS")) != "tcp,self") options.remote_silence = 2s;
  return core::Pe::start(options);
}

/// Calls until one fails, at most for 20 s.
base::Status repeat(const std::function<base::Status()>& call) {
  const auto begin = Clock::now();
  base::Status done;
  while (done && Clock::now() - begin < 20s) done = call();
  return done;
}

struct Step {
  const char* name;
  std::function<void(core::Pe&, void*)> dies;            ///< what the victim does before it is killed
  std::function<base::Status(core::Pe&, void*)> others;  ///< the others' calls, which must fail
};

const auto nothing = [](core::Pe&, void*) {};

const Step steps[] = {
    {"at a barrier", nothing, [](core::Pe& pe, void*) { return pe.barrier_all(); }},
    {"at an allocation", nothing, [](core::Pe& pe, void*) { return status_of(pe.allocate(64, 1, false)); }},
    {"at growth of the heap", nothing,
     [](core::Pe& pe, void*) { return status_of(pe.allocate(std::size_t{200} << 20, 1, false)); }},
    {"at puts to it", nothing,
     [](core::Pe& pe, void* object) {
       const std::vector<char> data(object_bytes, 'x');
       return repeat([&] {
         auto put = pe.transfers().put(object, data.data(), data.size(), victim, false);
         return put ? pe.quiet() : put;
       });
     }},
    {"at gets from it", nothing,
     [](core::Pe& pe, void* object) {
       std::vector<char> data(object_bytes);
       return repeat([&] { return pe.transfers().get(data.data(), object, data.size(), victim, false); });
     }},
    {"at atomics at it", nothing,
     [](core::Pe& pe, void* object) {
       std::uint64_t old = 0;
       return repeat([&] { return pe.transfers().atomic(object, 8, GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &old, victim); });
     }},
    {"while it puts",
     [](core::Pe& pe, void* object) {
       const std::vector<char> data(object_bytes, 'x');
       for (int i = 0; i < 20; ++i) (void)pe.transfers().put(object, data.data(), data.size(), 2, true);
     },
     [](core::Pe& pe, void* object) {
       return status_of(pe.waits().wait_until({object, 8, false}, GDRKIT_SHMEM_EQ, 1));
     }},
    {"at a wait for a PE that never sent", nothing,
     [](core::Pe& pe, void* object) {
       return status_of(pe.waits().wait_until({object, 8, false}, GDRKIT_SHMEM_EQ, 1));
     }},
    {"at gets of a GPU kernel from it", nothing,
     [](core::Pe& pe, void* object) {
       auto watched = pe.gpu_code().watch();
       if (!watched) return watched;
       return repeat([&] {
         (void)shmem::g(pe.gpu_code().state(), static_cast<std::uint64_t*>(object), victim);
         return pe.quiet();
       });
     }},
    {"at a barrier of GPU kernels", nothing,
     [](core::Pe& pe, void*) {
       auto watched = pe.gpu_code().watch();
       if (!watched || shmem::barrier_all(pe.gpu_code().state(), shmem::thread())) return watched;
       auto ended = pe.quiet();
       // GPU kernels check twice a second: another PE's GPU kernel must not detect this process's end first.
       std::this_thread::sleep_for(2s);
       return ended;
     }},
    {"before it finalizes", nothing, [](core::Pe& pe, void*) { return pe.finalize(); }},
};

class RemoteDeath : public ::testing::TestWithParam<const char*> {};

TEST_P(RemoteDeath, CallsOfOtherPesFailAndReportTheKilledPe) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  ::setenv("UCX_TLS", GetParam(), 1);
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  ::setenv("UCX_LOG_LEVEL", "fatal", 0);  // it reports the broken connections, which are this test's subject
  ::setenv("UCX_VFS_ENABLE", "n", 1);     // its thread holds locks of UCX for a moment, and the job forks right after
  if (!platform::ucx_calls()) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    auto id = bootstrap::make_unique_id();
    ASSERT_TRUE(id) << id.error().text();
    const auto ends = tests::run_processes(3, [&](int number) -> std::string {
      auto pe = start(*id, number, 3, transport::RemoteWay::automatic);
      if (!pe) return std::string("start: ") + pe.error().text();
      auto object = (*pe)->allocate(object_bytes, 1, true);
      if (!object) return std::string("allocation: ") + object.error().text();
      if (number == victim) {
        step.dies(**pe, *object);
        ::raise(SIGKILL);
      }
      const auto begin = Clock::now();
      auto ended = step.others(**pe, *object);
      if (ended) return "no error";
      if (Clock::now() - begin > 10s) return "too late";
      if (ended.error().errno_value != ECONNRESET) return std::string("another error: ") + ended.error().text();
      return ended.error().text();
    });
    EXPECT_EQ(ends[victim], "signal 9");
    EXPECT_THAT(ends[0], ::testing::HasSubstr("PE 1 has ended"));
    EXPECT_THAT(ends[2], ::testing::HasSubstr("PE 1 has ended"));
  }
}

void wait_until_stopped(int process) {
  char state = 0;
  while (state != 'T') {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return;
    state = text[name_end + 2];
  }
}

/// After a failed get the caller frees the target.
TEST(RemoteGet, DoesNotWriteAfterAFailedQuiet) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  ::setenv("UCX_TLS", "tcp,self", 1);
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  ::setenv("UCX_VFS_ENABLE", "n", 1);  // its thread holds locks of UCX for a moment, and the job forks right after
  if (!platform::ucx_calls()) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
  auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  const auto ends = tests::run_processes(2, [&](int number) -> std::string {
    auto pe = start(*id, number, 2, transport::RemoteWay::staged);
    if (!pe) return std::string("start: ") + pe.error().text();
    auto object = (*pe)->allocate(object_bytes, 1, true);
    if (!object) return std::string("allocation: ") + object.error().text();
    if (number == 1) {
      const std::int64_t own = ::getpid();
      if (!(*pe)->transfers().put(*object, &own, sizeof own, 1, false)) return "no process number";
    }
    if (auto met = (*pe)->barrier_all(); !met) return met.error().text();
    if (number == 0) {
      std::int64_t process = 0;
      if (auto got = (*pe)->transfers().get(&process, *object, sizeof process, 1, false); !got)
        return got.error().text();
      ::kill(static_cast<pid_t>(process), SIGSTOP);
      wait_until_stopped(static_cast<int>(process));
      std::vector<char> data(object_bytes, 'x');
      auto asked = (*pe)->transfers().get(data.data(), *object, data.size(), 1, true);
      (*pe)->set_limit(200ms);
      auto ended = (*pe)->quiet();
      ::kill(static_cast<pid_t>(process), SIGCONT);
      (*pe)->set_limit(60s);
      if (!asked) return asked.error().text();
      if (ended || ended.error().errno_value != ETIMEDOUT) return "quiet did not fail in time";
      // Replies arrive in the order of the requests.
      if (auto got = (*pe)->transfers().get(&process, *object, sizeof process, 1, false); !got)
        return got.error().text();
      if (data != std::vector<char>(object_bytes, 'x')) return "written late";
      if (auto quiet = (*pe)->quiet(); !quiet) return quiet.error().text();
    }
    auto met = (*pe)->barrier_all();
    return met ? "ended" : met.error().text();
  });
  EXPECT_EQ(ends, std::vector<std::string>(2, "ended"));
}

INSTANTIATE_TEST_SUITE_P(Ucx, RemoteDeath, ::testing::Values("tcp,self", "posix,self"), [](const auto& one) {
  return std::string(one.param).substr(0, std::string(one.param).find(','));
});

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
