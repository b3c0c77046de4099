// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// ShmemJob: several PEs in one process, one thread each, on the emulated device or on the GPUs of this machine.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "platform/device/device.hpp"
#include "shmem/core/pe.hpp"
#include "support/place.hpp"
#include "support/requirements.hpp"
#include "support/results.hpp"
#include "support/run_together.hpp"
#include "support/thread_allgather.hpp"

namespace gdrkit::tests {

struct ShmemJobOptions {
  int n_pes = 2;
  std::uint64_t heap_bytes = std::uint64_t{4} << 20;
  std::uint64_t heap_max_bytes = std::uint64_t{1} << 30;
  std::chrono::milliseconds limit{30000};
  bool compares_stream_collectives = false;
  /// Every PE counts as one on another node, so that UCX transfers all data; $GDRKIT_SHMEM_DISABLE_P2P also enables
  /// this.
  bool is_p2p_disabled = false;
  std::function<int(int pe)> machine_of = nullptr;  ///< with is_p2p_disabled: PEs with equal numbers share a node
  shmem_impl::transport::RemoteWay remote_way = shmem_impl::transport::RemoteWay::automatic;
  std::chrono::milliseconds remote_silence{7000};  ///< as in shmem_impl::parts::ConnectionOptions
  std::string reading_engine = "";
  const platform::UcxCalls* ucx_calls = nullptr;
  int only_pe_with_ucx_calls = -1;  ///< -1: all PEs
};

/// Returns `requested`, or the number of GPUs if that is lower. If PEs of one process share a GPU, a copy to ordinary
/// host memory locks their common context until earlier work in its stream has ended. That work may wait for another of
/// these PEs.
[[nodiscard]] inline int pes_with_own_device(int requested) {
  const auto gpus = platform::cuda_device_count();
  return !is_gpu_place() || !gpus || *gpus == 0 ? requested : std::min(requested, *gpus);
}

/// Returns whether this machine has a UCX to test with, and sets it up for several PEs in one process.
[[nodiscard]] inline bool has_ucx() {
#if defined(__SANITIZE_THREAD__)
  return false;  // a UCX without instrumentation ends such a process
#endif
  // UCX's fault handler would replace those of tests and sanitizers.
  ::setenv("UCX_HANDLE_ERRORS", "none", 0);
  ::setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 0);
  // On Debian 13, loading UCX starts a thread that opens and closes a socket and holds locks of UCX. Tests count
  // descriptors and fork.
  ::setenv("UCX_VFS_ENABLE", "n", 1);
  return platform::ucx_calls().has_value();
}

/// Returns $GDRKIT_SHMEM_REMOTE, for tests that run once for each value.
[[nodiscard]] inline shmem_impl::transport::RemoteWay remote_way_of_environment(
    shmem_impl::transport::RemoteWay otherwise) {
  const char* const text = std::getenv("GDRKIT_SHMEM_REMOTE");
  if (text == nullptr) return otherwise;
  return std::strcmp(text, "direct") == 0 ? shmem_impl::transport::RemoteWay::direct
                                          : shmem_impl::transport::RemoteWay::staged;
}

/// Returns zeroed symmetric memory, for `count` objects. Collective.
template <class T>
[[nodiscard]] T* zeroed(shmem_impl::core::Pe& pe, std::size_t count) {
  auto made = pe.allocate(count * sizeof(T), 1, true);
  EXPECT_TRUE(made) << made.error().text();
  return made ? static_cast<T*>(*made) : nullptr;
}

/// Returns the bytes at an address of the PE's device, read by its copy engine.
[[nodiscard]] inline std::vector<std::uint8_t> device_bytes(shmem_impl::core::Pe& pe, const void* address,
                                                            std::size_t size_bytes) {
  auto& device = const_cast<platform::Device&>(pe.device());
  const platform::DeviceScope scope(device);
  std::vector<std::uint8_t> bytes(size_bytes);
  EXPECT_TRUE(succeeded(device.copy_to_host(bytes.data(), reinterpret_cast<std::uint64_t>(address), size_bytes)));
  return bytes;
}

/// Collective over the job. Returns an id for a team, which PE `from` has made.
[[nodiscard]] inline std::uint64_t shared_team_id(shmem_impl::core::Pe& pe, int from = 0) {
  auto* const word = zeroed<std::uint64_t>(pe, 1);
  if (pe.pe() == from) {
    const auto made = pe.collectives().get_unique_id();
    EXPECT_TRUE(made) << made.error().text();
    for (int to = 0; made && to < pe.n_pes(); ++to) {
      EXPECT_TRUE(succeeded(pe.transfers().put(word, &*made, sizeof *made, to, false)));
    }
  }
  EXPECT_TRUE(succeeded(pe.barrier_all()));
  std::uint64_t id = 0;
  const auto bytes = device_bytes(pe, word, sizeof id);
  if (!bytes.empty()) std::memcpy(&id, bytes.data(), sizeof id);
  EXPECT_TRUE(succeeded(pe.free(word)));
  return id;
}

/// The number of each PE in shuffled_team, whose PEs have no constant distance if there are more than two.
[[nodiscard]] inline int shuffled_number(int pe, int n_pes) { return (2 * pe + 1) % (n_pes + 1); }
/// Collective over the job, with an even number of PEs. Creates a team of all PEs in that order.
[[nodiscard]] inline shmem_impl::collective::Team shuffled_team(shmem_impl::core::Pe& pe) {
  const std::uint64_t id = shared_team_id(pe);
  auto made = pe.collectives().init_team(id, pe.n_pes(), shuffled_number(pe.pe(), pe.n_pes()));
  EXPECT_TRUE(made) << made.error().text();
  return made ? *made : GDRKIT_SHMEM_TEAM_INVALID;
}

/// Starts each PE in a thread, runs `body` on it and finalizes it. Finalizing begins with a barrier and must succeed.
/// Calls `on_failure` in place of `body` for a PE that does not start. Returns when all have ended.
inline void run_pe_threads(const ShmemJobOptions& job, const std::function<void(shmem_impl::core::Pe&)>& body,
                           const std::function<void(int pe, const base::Error&)>& on_failure) {
  ThreadAllgather allgather(job.n_pes);
  struct Member {
    ThreadAllgather* allgather;
    std::size_t pe;
  };
  run_together(job.n_pes, [&](int number) {
    Member member{&allgather, static_cast<std::size_t>(number)};
    shmem_impl::core::PeOptions options;
    options.n_pes = job.n_pes;
    options.pe = number;
    options.limit = job.limit;
    options.heap_bytes = job.heap_bytes;
    options.heap_max_bytes = job.heap_max_bytes;
    options.compares_stream_collectives = job.compares_stream_collectives;
    options.is_p2p_disabled = job.is_p2p_disabled;
    if (job.machine_of) options.machine = job.machine_of(number);
    options.remote_way = job.remote_way;
    options.remote_silence = job.remote_silence;
    options.reading_engine = job.reading_engine;
    if (job.only_pe_with_ucx_calls == -1 || job.only_pe_with_ucx_calls == number) options.ucx_calls = job.ucx_calls;
    options.allgather_argument = &member;
    options.allgather = [](const void* mine, std::size_t size_bytes, void* all, void* argument) {
      auto* const self = static_cast<Member*>(argument);
      return self->allgather->gather(self->pe, mine, size_bytes, all);
    };
    auto pe = shmem_impl::core::Pe::start(options);
    if (!pe) return on_failure(number, pe.error());
    body(**pe);
    auto ended = (*pe)->finalize();
    EXPECT_TRUE(ended) << ended.error().text();
  });
}

/// Runs `body` as each PE, each in a thread. Returns when all have finalized. Failures are reported as the test's.
inline void run_shmem_job(ShmemJobOptions job, const std::function<void(shmem_impl::core::Pe&)>& body) {
  const std::string place = place_name();
  if (place == "emulated") {
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
  } else if (const auto gpus = platform::cuda_device_count(); !gpus || *gpus == 0) {
    GDRKIT_SKIP_OR_FAIL(place, "no GPU");
  }
  job.is_p2p_disabled = job.is_p2p_disabled || std::getenv("GDRKIT_SHMEM_DISABLE_P2P") != nullptr;
  if (job.is_p2p_disabled && !has_ucx()) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0), or a thread sanitizer");
  job.remote_way = remote_way_of_environment(job.remote_way);
  run_pe_threads(job, body, [](int, const base::Error& error) { FAIL() << error.text(); });
}

}  // namespace gdrkit::tests
