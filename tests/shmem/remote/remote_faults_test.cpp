// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// UCX fails in one call of one PE: all PEs report the cause, or the transfer uses another path, and nothing leaks.
#include <gmock/gmock.h>

#include <cerrno>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/process_resources.hpp"
#include "support/shmem_job.hpp"
#include "tests/shmem/remote/faulty_job.hpp"

namespace gdrkit::shmem_impl::remote {
namespace {

using platform::UcxCalls;
using platform::UcxStatus;
using ::testing::Each;
using ::testing::HasSubstr;

using tests::failed;
using tests::faulty_pe;
using tests::message_of;
using tests::real_ucx;
using tests::texts_of_job;

constexpr UcxStatus no_memory = platform::ucx_no_memory;

class RemoteFaults : public tests::FaultyJob {};

TEST_F(RemoteFaults, AllPesReportAFailureOfAnyStartStep) {
  struct Step {
    const char* text;
    std::function<void(UcxCalls&)> spoil;
  };
  // Each replacement has the parameters of the function.
  const Step steps[] = {
      {"ucp_config_read", [](UcxCalls& c) { c.config_read = [](auto...) { return no_memory; }; }},
      {"ucp_init", [](UcxCalls& c) { c.init_version = [](auto...) { return no_memory; }; }},
      {"ucp_context_query", [](UcxCalls& c) { c.context_query = [](auto...) { return no_memory; }; }},
      {"ucp_worker_create", [](UcxCalls& c) { c.worker_create = [](auto...) { return no_memory; }; }},
      {"ucp_worker_set_am_recv_handler",
       [](UcxCalls& c) { c.worker_set_am_recv_handler = [](auto...) { return no_memory; }; }},
      {"ucp_worker_get_efd", [](UcxCalls& c) { c.worker_get_efd = [](auto...) { return no_memory; }; }},
      {"ucp_worker_get_address", [](UcxCalls& c) { c.worker_get_address = [](auto...) { return no_memory; }; }},
  };
  for (const Step& step : steps) {
    SCOPED_TRACE(step.text);
    const auto before = tests::count_process_resources();
    UcxCalls calls = faulty;
    step.spoil(calls);
    const auto texts = texts_of_job(calls, transport::RemoteWay::staged);
    EXPECT_THAT(texts, Each(HasSubstr(step.text)));
    EXPECT_THAT(texts[faulty_pe], HasSubstr("cannot use UCX to connect to PEs on other nodes"));
    EXPECT_THAT(texts[0], HasSubstr("PE 1: "));
    EXPECT_EQ(tests::count_process_resources(), before);
  }
}

/// Over shared memory: if a TCP connection is refused, UCX 1.18 sometimes ends the process with a failed assertion.
TEST_F(RemoteFaults, ReportsAFailedConnection) {
  ::setenv("UCX_TLS", "posix,self", 1);
  faulty.ep_create = [](auto...) { return platform::ucx_no_memory; };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged);
  EXPECT_THAT(texts[faulty_pe], HasSubstr("cannot connect to PE 0: UCX failed in ucp_ep_create"));
  EXPECT_NE(texts[0], "started");
}

/// As UCX behaves if the other PE's endpoint was first and has no error handling: shared memory does not report deaths.
TEST_F(RemoteFaults, DisablesErrorHandlingIfThePeerConnectedWithoutIt) {
  ::setenv("UCX_TLS", "posix,self", 1);
  faulty.ep_create = [](platform::UcxWorkerHandle* worker, const platform::UcxEndpointParams* params,
                        platform::UcxEndpoint** endpoint) {
    if (params->error_mode == platform::ucx_error_mode_peer) return platform::ucx_unsupported;
    return real_ucx().ep_create(worker, params, endpoint);
  };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged);
  EXPECT_THAT(texts, Each("started"));
}

/// Where the memory of a PE cannot be registered, data that was to go directly is an error with the cause; staged data
/// still arrives.
TEST_F(RemoteFaults, PeerReportsMemoryThatCannotBeRegistered) {
  faulty.mem_map = [](auto...) { return platform::ucx_unsupported; };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::direct, [](core::Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 64);
    const std::uint64_t value = 7;
    auto put = pe.transfers().put(object, &value, sizeof value, 1 - pe.pe(), false);
    if (pe.pe() == faulty_pe) {
      EXPECT_TRUE(put) << put.error().text();
    } else {
      EXPECT_TRUE(failed(put, EOPNOTSUPP, testing::HasSubstr("ucp_mem_map")));
      EXPECT_THAT(pe.transfers().describe(faulty_pe)->c_str(), HasSubstr("ucx: not used: UCX could not register"));
    }
    ASSERT_TRUE(pe.barrier_all());
  });
  EXPECT_THAT(texts, Each("started"));
}

/// What UCX returns for a message that it refuses.
void* out_of_memory() { return reinterpret_cast<void*>(std::intptr_t{platform::ucx_no_memory}); }

/// A message that UCX rejects fails the call; the next one succeeds, with its number in order.
TEST_F(RemoteFaults, CallReportsItsFailedMessage) {
  static std::atomic<bool> fails{false};
  faulty.am_send_nbx = [](platform::UcxEndpoint* endpoint, unsigned id, const void* header, std::size_t header_bytes,
                          const void* data, std::size_t size_bytes, const platform::UcxRequestParams* params) -> void* {
    const bool is_put = message_of(header, header_bytes).kind == RemoteMessageKind::put;
    if (is_put && fails.exchange(false)) return out_of_memory();
    return real_ucx().am_send_nbx(endpoint, id, header, header_bytes, data, size_bytes, params);
  };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged, [](core::Pe& pe) {
    auto* const object = tests::zeroed<char>(pe, 8);
    if (pe.pe() == faulty_pe) {
      const std::uint64_t value = 9;
      fails = true;
      EXPECT_TRUE(
          failed(pe.transfers().put(object, &value, sizeof value, 0, false), ENOMEM, testing::HasSubstr("PE 0")));
      ASSERT_TRUE(pe.transfers().put(object, &value, sizeof value, 0, false));
    } else {
      auto seen = pe.waits().wait_until({object, 8, false}, GDRKIT_SHMEM_EQ, 9);
      EXPECT_TRUE(seen) << seen.error().text();
    }
    ASSERT_TRUE(pe.barrier_all());
  });
  EXPECT_THAT(texts, Each("started"));
}

/// Messages that overtake each other inside UCX are put in order again.
TEST_F(RemoteFaults, HandlesReorderedMessagesInOrder) {
  struct Held {
    std::vector<char> header;
    std::vector<char> data;
    platform::UcxEndpoint* endpoint = nullptr;
  };
  static Held held;  // under Remote's lock
  faulty.am_send_nbx = [](platform::UcxEndpoint* endpoint, unsigned id, const void* header, std::size_t header_bytes,
                          const void* data, std::size_t size_bytes, const platform::UcxRequestParams* params) -> void* {
    const auto kind = message_of(header, header_bytes).kind;
    if (kind == RemoteMessageKind::put && held.endpoint == nullptr) {
      const auto* const bytes = static_cast<const char*>(header);
      held = {{bytes, bytes + header_bytes}, {}, endpoint};
      if (size_bytes != 0)
        held.data.assign(static_cast<const char*>(data), static_cast<const char*>(data) + size_bytes);
      return nullptr;
    }
    void* const sent = real_ucx().am_send_nbx(endpoint, id, header, header_bytes, data, size_bytes, params);
    if (held.endpoint != nullptr && kind <= last_in_order) {
      static std::vector<Held> late;  // UCX may still read them
      late.push_back(std::move(held));
      held = {};
      platform::UcxRequestParams plain;
      plain.field_mask = platform::ucx_request_flags;
      plain.flags = platform::ucx_message_eager;
      const Held& now = late.back();
      void* const request = real_ucx().am_send_nbx(now.endpoint, id, now.header.data(), now.header.size(),
                                                   now.data.data(), now.data.size(), &plain);
      if (platform::ucx_is_request(request)) real_ucx().request_free(request);
    }
    return sent;
  };
  const auto texts = texts_of_job(faulty, transport::RemoteWay::staged, [](core::Pe& pe) {
    auto object = pe.allocate(4096, 1, true);
    auto signal = pe.allocate(8, 1, true);
    ASSERT_TRUE(object && signal);
    for (std::uint64_t round = 1; round <= 100; ++round) {
      if (pe.pe() == faulty_pe) {
        const std::vector<std::uint64_t> data(512, round);
        ASSERT_TRUE(
            pe.transfers().put_signal(*object, data.data(), 4096, *signal, round, GDRKIT_SHMEM_SIGNAL_SET, 0, false));
        ASSERT_TRUE(pe.quiet());
      } else {
        ASSERT_TRUE(pe.waits().wait_until({*signal, 8, false}, GDRKIT_SHMEM_GE, round));
        std::uint64_t last = 0;
        ASSERT_TRUE(pe.transfers().get(&last, static_cast<char*>(*object) + 4088, 8, 0, false));
        ASSERT_EQ(last, round);
      }
      ASSERT_TRUE(pe.sync_all());
    }
  });
  EXPECT_THAT(texts, Each("started"));
}

}  // namespace
}  // namespace gdrkit::shmem_impl::remote
