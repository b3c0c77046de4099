// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Of three processes that reach each other by UCX only, one is killed at some step: the others' calls end within 10 s
// and name it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gdrkit/shmem_device.cuh"
#include "support/requirements.hpp"
#include "support/results.hpp"
#include "tests/shmem/core/mortal_job.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using namespace std::chrono_literals;

constexpr int victim = 1;
constexpr std::size_t object_bytes = 256 << 10;

/// Calls until one fails, at most for 20 s.
base::Status repeat(const std::function<base::Status()>& call) {
  const auto begin = tests::Clock::now();
  base::Status done;
  while (done && tests::Clock::now() - begin < 20s) done = call();
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
  const std::string transports = GetParam();
  if (!tests::prepare_ucx(transports.c_str())) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
  tests::MortalJob job{.victim = victim, .predicate = " has ended", .is_p2p_disabled = true};
  // UCX's shared memory does not report a dead process: heartbeats do.
  if (transports != "tcp,self") job.remote_silence = 2s;
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    tests::TimeOfDeath death;
    const auto ends = tests::run_mortal_job(
        job, death, [](int) {},
        [&](core::Pe& pe) {
          auto object = pe.allocate(object_bytes, 1, true);
          if (!object) return status_of(object);
          if (pe.pe() != victim) return step.others(pe, *object);
          step.dies(pe, *object);
          death.die();
          return base::Status();
        });
    tests::expect_all_named_it(job, ends);
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

/// Begins a get from PE 1 while its process is stopped. After the failed quiet, the caller may free the target.
base::Status get_from_stopped_pe(core::Pe& pe, void* object) {
  std::int64_t process = 0;
  if (auto got = pe.transfers().get(&process, object, sizeof process, 1, false); !got) return got;
  ::kill(static_cast<pid_t>(process), SIGSTOP);
  wait_until_stopped(static_cast<int>(process));
  std::vector<char> data(object_bytes, 'x');
  auto started = pe.transfers().get(data.data(), object, data.size(), 1, true);
  pe.set_limit(200ms);
  auto ended = pe.quiet();
  ::kill(static_cast<pid_t>(process), SIGCONT);
  pe.set_limit(60s);
  if (!started) return started;
  if (ended || ended.error().errno_value != ETIMEDOUT) return base::fail_literal(EIO, "quiet did not time out");
  // Replies arrive in the order of the requests.
  if (auto got = pe.transfers().get(&process, object, sizeof process, 1, false); !got) return got;
  if (data != std::vector<char>(object_bytes, 'x')) return base::fail_literal(EIO, "written late");
  return pe.quiet();
}

TEST(RemoteGet, DoesNotWriteAfterAFailedQuiet) {
  if (!tests::prepare_ucx("tcp,self")) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
  constexpr int none = -1;
  const tests::MortalJob job{
      .n_pes = 2, .victim = none, .is_p2p_disabled = true, .remote_way = transport::RemoteWay::staged};
  tests::TimeOfDeath never;
  const auto ends = tests::run_mortal_job(
      job, never, [](int) {},
      [](core::Pe& pe) {
        auto object = pe.allocate(object_bytes, 1, true);
        if (!object) return status_of(object);
        const std::int64_t own = ::getpid();
        base::Status done = pe.transfers().put(*object, &own, sizeof own, pe.pe(), false);
        if (done) done = pe.barrier_all();
        if (done && pe.pe() == 0) done = get_from_stopped_pe(pe, *object);
        return done ? pe.barrier_all() : done;
      });
  EXPECT_THAT(ends, ::testing::Each("finished"));
}

INSTANTIATE_TEST_SUITE_P(Ucx, RemoteDeath, ::testing::Values("tcp,self", "posix,self"), [](const auto& one) {
  return std::string(one.param).substr(0, std::string(one.param).find(','));
});

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
