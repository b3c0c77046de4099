// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Jobs of two PEs that only UCX connects. A test replaces UCX's functions in one of them.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/shmem_job.hpp"

namespace gdrkit::tests {

using shmem_impl::core::Pe;
using shmem_impl::core::PeOptions;
using shmem_impl::transport::RemoteWay;

inline constexpr int n_pes = 2;
inline constexpr int faulty_pe = 1;

/// UCX's own functions, which the replacements call.
inline const platform::UcxCalls& real_ucx() {
  static const platform::UcxCalls calls = **platform::ucx_calls();
  return calls;
}

/// Starts two PEs, one of them with the functions in `faulty`, and returns the error message of each PE. `body` runs on
/// the PEs that started.
inline std::vector<std::string> texts_of_job(const platform::UcxCalls& faulty, RemoteWay way,
                                             const std::function<void(Pe&)>& body = {}) {
  ThreadAllgather allgather(n_pes);
  struct Member {
    ThreadAllgather* allgather;
    std::size_t pe;
  };
  std::vector<std::string> texts(n_pes, "started");
  std::vector<std::thread> threads;
  for (int number = 0; number < n_pes; ++number) {
    threads.emplace_back([&, number] {
      Member member{&allgather, static_cast<std::size_t>(number)};
      PeOptions options;
      options.n_pes = n_pes;
      options.pe = number;
      options.limit = std::chrono::seconds(20);
      options.heap_bytes = std::uint64_t{1} << 20;
      options.heap_max_bytes = std::uint64_t{1} << 28;
      options.is_p2p_disabled = true;
      options.remote_way = way;
      if (number == faulty_pe) options.ucx_calls = &faulty;
      options.allgather_argument = &member;
      options.allgather = [](const void* mine, std::size_t size_bytes, void* all, void* argument) {
        auto* const self = static_cast<Member*>(argument);
        return self->allgather->gather(self->pe, mine, size_bytes, all);
      };
      auto pe = Pe::start(options);
      if (!pe) {
        texts[static_cast<std::size_t>(number)] = pe.error().text();
        return;
      }
      if (body) body(**pe);
      auto ended = (*pe)->finalize();
      EXPECT_TRUE(ended) << ended.error().text();
    });
  }
  for (auto& thread : threads) thread.join();
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
