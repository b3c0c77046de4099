// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One of two processes is killed at some step: the call of the other ends, names it, and leaks nothing.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "platform/gpu_code/collective_params.hpp"
#include "shmem/core/pe.hpp"
#include "support/process_resources.hpp"
#include "support/results.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;
using gdrkit::tests::status_of;
using tests::failed;

base::Result<std::unique_ptr<Pe>> start(const bootstrap::UniqueId& id, int pe, int n_pes = 2) {
  PeOptions options;
  options.n_pes = n_pes;
  options.pe = pe;
  options.unique_id = &id;
  options.limit = 60s;
  options.heap_bytes = std::uint64_t{1} << 20;
  options.heap_max_bytes = std::uint64_t{1} << 30;
  return Pe::start(options);
}

struct Step {
  const char* name;
  std::function<void(Pe&)> victim;            ///< what PE 1 does before it is killed
  std::function<base::Status(Pe&)> survivor;  ///< PE 0's call, which must fail
};

struct OwnBuffer {
  platform::Allocation memory;
  void* symmetric = nullptr;
};

/// Collective, if it succeeds.
base::Result<OwnBuffer> register_own(Pe& pe) {
  constexpr std::size_t size_bytes = std::size_t{2} << 20;
  auto memory = pe.device().allocate(platform::AllocationKind::vmm_exportable, size_bytes);
  if (!memory) return base::pass(memory);
  auto made = pe.register_symmetric(reinterpret_cast<void*>(memory->address()), size_bytes);
  if (!made) return base::pass(made);
  return OwnBuffer{std::move(*memory), *made};
}

/// Both make an object; then PE 0 calls a collective of `size_bytes` that PE 1 does not live to call.
Step before_collective(const char* name, std::size_t size_bytes, bool is_on_stream) {
  const std::size_t room = 2 * size_bytes;
  return {name, [=](Pe& pe) { (void)pe.allocate(room, 1, true); },
          [=](Pe& pe) -> base::Status {
            auto object = pe.allocate(room, 1, true);
            if (!object) return status_of(object);
            collective::CollectiveCall call{collective::CollectiveOperation::reduce, GDRKIT_SHMEM_TEAM_WORLD, *object,
                                            static_cast<char*>(*object) + size_bytes, size_bytes};
            if (!is_on_stream) return pe.collectives().run(call);
            if (auto launched = pe.collectives().launch(call, {}); !launched) return launched;
            return pe.synchronize_stream(nullptr);
          }};
}

const Step steps[] = {
    {"before a barrier", [](Pe&) {}, [](Pe& pe) { return pe.barrier_all(); }},
    {"after a barrier", [](Pe& pe) { (void)pe.barrier_all(); },
     [](Pe& pe) {
       auto first = pe.barrier_all();
       return first ? pe.barrier_all() : first;
     }},
    {"before an allocation", [](Pe&) {}, [](Pe& pe) { return status_of(pe.allocate(64, 1, false)); }},
    {"before the heap grows", [](Pe& pe) { (void)pe.sync_all(); },
     [](Pe& pe) {
       auto met = pe.sync_all();
       return met ? status_of(pe.allocate(std::size_t{200} << 20, 1, false)) : met;
     }},
    {"before a buffer is registered", [](Pe&) {}, [](Pe& pe) { return status_of(register_own(pe)); }},
    {"before a buffer is unregistered", [](Pe& pe) { (void)register_own(pe); },
     [](Pe& pe) {
       auto own = register_own(pe);
       return own ? pe.unregister_symmetric(own->symmetric) : status_of(own);
     }},
    {"before a signal", [](Pe& pe) { (void)pe.allocate(8, 1, true); },
     [](Pe& pe) {
       auto word = pe.allocate(8, 1, true);
       if (!word) return status_of(word);
       return status_of(pe.waits().wait_until({*word, 8, false}, GDRKIT_SHMEM_EQ, 1));
     }},
    {"before a signal for a stream", [](Pe& pe) { (void)pe.allocate(8, 1, true); },
     [](Pe& pe) {
       auto word = pe.allocate(8, 1, true);
       if (!word) return status_of(word);
       auto waits = pe.streams().wait({*word, 8, false}, GDRKIT_SHMEM_EQ, 1, nullptr);
       return waits ? pe.synchronize_stream(nullptr) : waits;
     }},
    {"before a team is made", [](Pe&) {},
     [](Pe& pe) { return status_of(pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 0, 1, 2)); }},
    before_collective("before a small collective", 64, false),
    before_collective("before a large collective", 1 << 20, false),
    before_collective("before a small collective on a stream", 64, true),
    before_collective("before a large collective on a stream", 1 << 20, true),
    {"before it finalizes", [](Pe&) {}, [](Pe& pe) { return pe.finalize(); }},
};

TEST(ShmemDeath, CallsOfOtherPesFailAndReportTheKilledPe) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    const auto before = tests::count_process_resources();
    const auto begin = std::chrono::steady_clock::now();
    {
      auto id = bootstrap::make_unique_id();
      ASSERT_TRUE(id) << id.error().text();
      const pid_t victim = ::fork();
      if (victim == 0) {
        auto pe = start(*id, 1);
        if (pe) step.victim(**pe);
        ::raise(SIGKILL);
      }
      auto pe = start(*id, 0);
      ASSERT_TRUE(pe) << pe.error().text();
      EXPECT_TRUE(failed(step.survivor(**pe), ECONNRESET, testing::HasSubstr("PE 1")));
      int status = 0;
      ASSERT_EQ(::waitpid(victim, &status, 0), victim);
      EXPECT_TRUE(WIFSIGNALED(status));
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    EXPECT_EQ(tests::count_process_resources(), before);
  }
}

// PE 1 detects that PE 2 was killed, and ends. PE 0 checks only then, and must still report PE 2.
TEST(ShmemDeath, ReportsTheKilledPeRatherThanPesThatLeft) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  auto id = bootstrap::make_unique_id();
  ASSERT_TRUE(id) << id.error().text();
  const pid_t victim = ::fork();
  if (victim == 0) {
    auto pe = start(*id, 2, 3);
    ::raise(SIGKILL);
  }
  const pid_t witness = ::fork();
  if (witness == 0) {
    auto pe = start(*id, 1, 3);
    ::_exit(pe && !(*pe)->barrier_all() ? 0 : 1);
  }
  auto pe = start(*id, 0, 3);
  ASSERT_TRUE(pe) << pe.error().text();
  int status = 0;
  ASSERT_EQ(::waitpid(victim, &status, 0), victim);
  ASSERT_EQ(::waitpid(witness, &status, 0), witness);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(failed((*pe)->barrier_all(), ECONNRESET, testing::HasSubstr("PE 2 has ended")));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
