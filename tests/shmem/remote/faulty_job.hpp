// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Jobs of two PEs that only UCX connects. A test replaces UCX's functions in one of them.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shmem/remote/message.hpp"
#include "support/shmem_job.hpp"

namespace gdrkit::tests {

using shmem_impl::core::Pe;
using shmem_impl::transport::RemoteWay;

inline constexpr int n_pes = 2;
inline constexpr int faulty_pe = 1;

/// UCX's own functions, which the replacements call.
inline const platform::UcxCalls& real_ucx() {
  static const platform::UcxCalls calls = **platform::ucx_calls();
  return calls;
}

/// Returns the message that begins with `header`.
inline shmem_impl::remote::RemoteMessage message_of(const void* header, std::size_t header_bytes) {
  const shmem_impl::secret::Bytes block(static_cast<const std::uint8_t*>(header), header_bytes);
  return shmem_impl::remote::decode_message(block, {}, -1, INT32_MAX)->message;
}

/// Starts two PEs, one of them with the functions in `faulty`, and returns the error message of each PE. `body` runs on
/// the PEs that started.
inline std::vector<std::string> texts_of_job(
    const platform::UcxCalls& faulty, RemoteWay way, const std::function<void(Pe&)>& body = [](Pe&) {}) {
  std::vector<std::string> texts(n_pes, "started");
  ShmemJobOptions job;
  job.n_pes = n_pes;
  job.heap_bytes = std::uint64_t{1} << 20;
  job.heap_max_bytes = std::uint64_t{1} << 28;
  job.limit = std::chrono::seconds(20);
  job.is_p2p_disabled = true;
  job.remote_way = way;
  // UCX's shared memory does not report a dead PE: heartbeats do.
  if (std::string(std::getenv("UCX_TLS")) != "tcp,self") job.remote_silence = std::chrono::seconds(2);
  job.ucx_calls = &faulty;
  job.only_pe_with_ucx_calls = faulty_pe;
  run_pe_threads(job, body,
                 [&](int pe, const base::Error& error) { texts[static_cast<std::size_t>(pe)] = error.text(); });
  return texts;
}

class FaultyJob : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("GDRKIT_BACKEND", "emulated", 1);
    ::setenv("UCX_TLS", "tcp,self", 1);
    if (!has_ucx()) GDRKIT_SKIP_OR_FAIL("ucx", "no UCX (libucx0)");
    faulty = **platform::ucx_calls();
  }
  platform::UcxCalls faulty;
};

}  // namespace gdrkit::tests
