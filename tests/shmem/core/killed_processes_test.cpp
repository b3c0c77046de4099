// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A PE is killed at each message that it sends while a job starts and its heap grows, and in the middle of puts,
// barriers and large collectives.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

#include "platform/gpu_code/collective_params.hpp"
#include "support/requirements.hpp"
#include "support/results.hpp"
#include "tests/shmem/core/mortal_job.hpp"

namespace {

/// Of this process: counts down at each message; the one that would be sent at 0 is its last act.
std::atomic<int> messages_to_live{-1};
gdrkit::shmem_impl::tests::TimeOfDeath* death_of_process = nullptr;

}  // namespace

/// Replaces libc's function, because symbols of the program take precedence.
extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  if (death_of_process != nullptr && messages_to_live.fetch_sub(1) == 0) death_of_process->die();
  return ::syscall(SYS_sendmsg, socket, message, flags);
}

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;
using collective::CollectiveOperation;
using tests::MortalJob;
using tests::TimeOfDeath;

/// Starts, grows, shares a buffer and finalizes; the victim dies before its message number `living`. Returns whether it
/// died.
bool kill_at_message(const MortalJob& job, int living) {
  TimeOfDeath death;
  const auto ends = tests::run_mortal_job(
      job, death,
      [&](int pe) {
        if (pe != job.victim) return;
        messages_to_live = living;
        death_of_process = &death;
      },
      [](Pe& pe) {
        if (auto grown = pe.allocate(std::size_t{200} << 20, 1, false); !grown) return status_of(grown);
        auto memory = pe.device().allocate(platform::AllocationKind::vmm_exportable, std::size_t{2} << 20);
        if (!memory) return status_of(memory);
        auto made = pe.register_symmetric(reinterpret_cast<void*>(memory->address()), std::size_t{2} << 20);
        if (!made) return status_of(made);
        return pe.finalize();
      });
  if (!death.has_come()) {
    EXPECT_THAT(ends, ::testing::Each(std::string("finished")));
    return false;
  }
  tests::expect_all_named_it(job, ends);
  return true;
}

/// Kills the victim at each message from `first` on, until it lives through all; each step of start, growth and
/// registration sends some.
void kill_at_all_messages(const MortalJob& job, int first) {
  int message = first;
  while (kill_at_message(job, message) && !::testing::Test::HasFailure()) {
    SCOPED_TRACE("message " + std::to_string(++message));
  }
  EXPECT_GT(message - first, 20);
}

/// Starts after its first two messages, hello and proof: before them, no other PE can detect its death.
TEST(ShmemKilled, ReportsAMemberKilledAtAnyMessage) { kill_at_all_messages({.may_time_out = true}, 2); }

/// Starts after its first four messages, two challenges and two welcomes: they go to PEs that have connected.
TEST(ShmemKilled, ReportsTheFirstPeKilledAtAnyMessage) { kill_at_all_messages({.victim = 0, .may_time_out = true}, 4); }

/// What all do over and over when the victim dies.
struct Loop {
  const char* name;
  std::size_t size_bytes;
  std::function<base::Status(Pe&, char* object, std::size_t size_bytes)> turn;
};

template <CollectiveOperation operation, bool is_on_stream>
base::Status collective(Pe& pe, char* object, std::size_t size_bytes) {
  const bool has_parts = operation == CollectiveOperation::alltoall || operation == CollectiveOperation::fcollect ||
                         operation == CollectiveOperation::reducescatter;
  const auto n_pes = static_cast<std::size_t>(pe.n_pes());
  const std::size_t part = has_parts ? size_bytes / n_pes / 16 * 16 : size_bytes;
  collective::CollectiveCall call{operation, GDRKIT_SHMEM_TEAM_WORLD, object, object + size_bytes, part};
  call.root = 1;
  if (!is_on_stream) return pe.collectives().run(call);
  if (auto launched = pe.collectives().launch(call, {}); !launched) return launched;
  return pe.synchronize_stream(nullptr);
}

constexpr std::size_t large = std::size_t{4} << 20;

/// Of the victim and the last PE; the others wait in a barrier.
base::Status sync_team(Pe& pe, char*, std::size_t) {
  static std::optional<collective::Team> team;  // of this process's PE
  if (!team) {
    auto made = pe.collectives().split_strided(GDRKIT_SHMEM_TEAM_WORLD, 1, 1, pe.n_pes() - 1);
    if (!made) return base::pass(made);
    team = *made;
  }
  if (*team == GDRKIT_SHMEM_TEAM_INVALID) return pe.barrier_all();
  return pe.collectives().run({CollectiveOperation::sync, *team});
}

const Loop loops[] = {
    {"synchronizations of a team", 8, &sync_team},
    {"barriers", 8, [](Pe& pe, char*, std::size_t) { return pe.barrier_all(); }},
    {"puts to it, and a barrier now and then", large,
     [](Pe& pe, char* object, std::size_t size_bytes) {
       const std::vector<char> data(size_bytes, 'x');
       for (int next = 0; next < pe.n_pes(); ++next) {
         if (auto put = pe.transfers().put(object, data.data(), size_bytes, next, next % 2 == 0); !put) return put;
       }
       return pe.barrier_all();
     }},
    {"allocations that grow the heap", 8,
     [](Pe& pe, char*, std::size_t) {
       auto made = pe.allocate(std::size_t{70} << 20, 1, false);
       return made ? pe.free(*made) : status_of(made);
     }},
    {"a large broadcast", large, &collective<CollectiveOperation::broadcast, false>},
    {"a large fcollect", large, &collective<CollectiveOperation::fcollect, false>},
    {"a large alltoall", large, &collective<CollectiveOperation::alltoall, false>},
    {"a large reduction", large, &collective<CollectiveOperation::reduce, false>},
    {"a large reducescatter", large, &collective<CollectiveOperation::reducescatter, false>},
    {"a large broadcast on a stream", large, &collective<CollectiveOperation::broadcast, true>},
    {"a large alltoall on a stream", large, &collective<CollectiveOperation::alltoall, true>},
    {"a large reduction on a stream", large, &collective<CollectiveOperation::reduce, true>},
};

/// A separate thread kills the victim `delay` after its first turn, at an arbitrary point.
void kill_in_loop(const MortalJob& job, const Loop& loop, std::chrono::microseconds delay) {
  TimeOfDeath death;
  const auto ends = tests::run_mortal_job(
      job, death, [](int) {},
      [&](Pe& pe) -> base::Status {
        auto object = pe.allocate(2 * loop.size_bytes, 1, true);
        if (!object) return base::pass(object);
        std::thread killer;
        base::Status done;
        const auto begin = tests::Clock::now();
        for (int turn = 0; done && tests::Clock::now() - begin < 30s; ++turn) {
          done = loop.turn(pe, static_cast<char*>(*object), loop.size_bytes);
          if (turn > 0 || pe.pe() != job.victim) continue;
          killer = std::thread([&] {
            std::this_thread::sleep_for(delay);
            death.die();
          });
        }
        if (killer.joinable()) killer.join();
        return done;
      });
  tests::expect_all_named_it(job, ends);
}

TEST(ShmemKilled, ReportsAPeKilledDuringTransfersAndCollectives) {
  for (const Loop& loop : loops) {
    for (const auto delay : {500us, 7000us}) {
      SCOPED_TRACE(std::string(loop.name) + ", after " + std::to_string(delay.count()) + " us");
      kill_in_loop({.may_time_out = true}, loop, delay);
      if (HasFailure()) return;
    }
  }
}

/// The same between machines. Streams wait for the CPU there, so they are not a separate case.
TEST(ShmemKilled, ReportsAPeKilledDuringTransfersOverUcx) {
  if (!tests::prepare_ucx("tcp,self")) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
  for (Loop loop : loops) {
    if (std::string(loop.name).find("stream") != std::string::npos) continue;
    loop.size_bytes = std::min<std::size_t>(loop.size_bytes, 512 << 10);
    SCOPED_TRACE(loop.name);
    kill_in_loop({.may_time_out = true, .is_p2p_disabled = true}, loop, 20ms);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
