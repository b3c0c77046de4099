// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MortalJob: PEs as processes, one of which kills itself at some point. The others must fail, name it within 10
// seconds, and leak nothing.
#pragma once

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "shmem/core/pe.hpp"
#include "support/process_resources.hpp"
#include "support/shmem_job.hpp"
#include "tests/shmem/bootstrap/processes_as_pes.hpp"

namespace gdrkit::shmem_impl::tests {

using Clock = std::chrono::steady_clock;

/// In memory that the processes share: when the victim ended itself, by the machine's clock; 0: not yet.
class TimeOfDeath {
 public:
  TimeOfDeath()
      : at_ns_(static_cast<std::atomic<std::int64_t>*>(
            ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~TimeOfDeath() { ::munmap(at_ns_, 4096); }
  TimeOfDeath(const TimeOfDeath&) = delete;
  TimeOfDeath& operator=(const TimeOfDeath&) = delete;

  void die() noexcept {
    at_ns_->store(now_ns());
    (void)::raise(SIGKILL);
  }
  [[nodiscard]] bool has_come() const noexcept { return at_ns_->load() != 0; }
  [[nodiscard]] std::chrono::nanoseconds ago() const noexcept {
    return std::chrono::nanoseconds(now_ns() - at_ns_->load());
  }

 private:
  static std::int64_t now_ns() noexcept { return Clock::now().time_since_epoch().count(); }
  std::atomic<std::int64_t>* at_ns_;
};

struct MortalJob {
  int n_pes = 3;
  int victim = 1;
  bool may_time_out = false;   ///< survivors may fail with ETIMEDOUT, not only with ECONNRESET
  const char* predicate = "";  ///< follows "PE N", the victim, in the errors of survivors
  bool is_p2p_disabled = false;
  std::chrono::milliseconds remote_silence = core::PeOptions().remote_silence;
  transport::RemoteWay remote_way = transport::RemoteWay::automatic;
};

/// Prepares UCX for jobs whose processes are forked, and returns whether there is a UCX. Broken connections are the
/// subject of these tests, so UCX does not print them.
[[nodiscard]] inline bool prepare_ucx(const char* transports) {
  ::setenv("UCX_TLS", transports, 1);
  ::setenv("UCX_LOG_LEVEL", "fatal", 0);
  return gdrkit::tests::has_ucx();
}

/// The calls of each PE. The body runs once and returns the first error; the victim kills itself in it.
using MortalBody = std::function<base::Status(core::Pe& pe)>;

/// Verdict on a survivor: "" if it behaved as expected.
inline std::string judge(const MortalJob& job, const TimeOfDeath& death, const base::Error& error) {
  const std::string text = error.text();
  if (!death.has_come()) return "failed before the death: " + text;
  if (death.ago() > std::chrono::seconds(10)) return "too late: " + text;
  const bool is_named = text.find("PE " + std::to_string(job.victim) + job.predicate) != std::string::npos;
  if (!is_named) return "another PE or none is named: " + text;
  const bool is_right = error.errno_value == ECONNRESET || (job.may_time_out && error.errno_value == ETIMEDOUT);
  return is_right ? "" : "another error (" + std::to_string(error.errno_value) + "): " + text;
}

/// `prepare` runs in each process before the PE starts. Returns the end of each process: for survivors "" or a
/// description of the error; "finished" if nothing failed.
inline std::vector<std::string> run_mortal_job(const MortalJob& job, TimeOfDeath& death,
                                               const std::function<void(int pe)>& prepare, const MortalBody& body) {
  ::setenv("GDRKIT_BACKEND", "emulated", 1);
  auto id = bootstrap::make_unique_id();
  EXPECT_TRUE(id) << id.error().text();
  return run_processes(job.n_pes, [&](int number) -> std::string {
    core::PeOptions options;
    options.n_pes = job.n_pes;
    options.pe = number;
    options.unique_id = &*id;
    options.limit = std::chrono::seconds(60);
    options.heap_bytes = std::uint64_t{1} << 20;
    options.heap_max_bytes = std::uint64_t{1} << 30;
    options.is_p2p_disabled = job.is_p2p_disabled;
    options.remote_silence = job.remote_silence;
    options.remote_way = job.remote_way;
    prepare(number);
    auto before = gdrkit::tests::count_process_resources();
    if (number == 0) --before.descriptors;  // the listener of the unique id, which PE 0 takes over and closes
    std::string end = "finished";
    {
      auto pe = core::Pe::start(options);
      const base::Status done = pe ? body(**pe) : base::Status(base::pass(pe));
      if (!done) end = judge(job, death, done.error());
    }
    const auto after = gdrkit::tests::count_process_resources();
    if (end.empty() && !(after == before)) {
      end = "left behind: " + ::testing::PrintToString(after) + " after " + ::testing::PrintToString(before);
    }
    return end;
  });
}

/// Expects that all PEs except the victim reported its death.
inline void expect_all_named_it(const MortalJob& job, const std::vector<std::string>& ends) {
  for (int pe = 0; pe < job.n_pes; ++pe) {
    EXPECT_EQ(ends[static_cast<std::size_t>(pe)], pe == job.victim ? "signal 9" : "") << "PE " << pe;
  }
}

/// Runs a job in which the victim calls `before_death` and dies. `survivor` must then fail on all other PEs.
inline void expect_death_is_reported(const MortalJob& job, const std::function<void(core::Pe&)>& before_death,
                                     const MortalBody& survivor) {
  TimeOfDeath death;
  const auto ends = run_mortal_job(
      job, death, [](int) {},
      [&](core::Pe& pe) {
        if (pe.pe() != job.victim) return survivor(pe);
        before_death(pe);
        death.die();
        return base::Status();
      });
  expect_all_named_it(job, ends);
}

}  // namespace gdrkit::shmem_impl::tests
