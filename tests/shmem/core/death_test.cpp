// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// One of two processes is killed at some step: the call of the other ends, names it, and leaks nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "platform/gpu_code/collective_params.hpp"
#include "support/results.hpp"
#include "tests/shmem/core/mortal_job.hpp"

namespace gdrkit::shmem_impl::core {
namespace {

using namespace std::chrono_literals;

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
       auto synchronized = pe.sync_all();
       return synchronized ? status_of(pe.allocate(std::size_t{200} << 20, 1, false)) : synchronized;
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
  for (const Step& step : steps) {
    SCOPED_TRACE(step.name);
    tests::expect_death_is_reported({.n_pes = 2}, step.victim, step.survivor);
  }
}

TEST(ShmemDeath, ReportsTheKilledPeRatherThanPesThatLeft) {
  const auto nothing = [](Pe&) {};
  // PE 1 detects that PE 2 was killed, and ends. PE 0 checks only then, and must still report PE 2.
  const auto survivor = [](Pe& pe) {
    while (pe.pe() == 0 && pe.connections().node().is_alive(1)) std::this_thread::sleep_for(1ms);
    return pe.barrier_all();
  };
  tests::expect_death_is_reported({.victim = 2, .predicate = " has ended"}, nothing, survivor);
}

}  // namespace
}  // namespace gdrkit::shmem_impl::core
