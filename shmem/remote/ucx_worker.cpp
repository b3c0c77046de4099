// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/ucx_worker.hpp"

#include <cstdlib>
#include <utility>

namespace gdrkit::shmem_impl::remote {

using platform::UcxStatus;

/// UCX has many names for a connection that ended; what is sent over one that is being taken down is cancelled.
int errno_of_ucx(UcxStatus status) noexcept {
  constexpr int io_error = -3;
  constexpr int timed_out = -20;
  constexpr int not_connected = -24;
  constexpr int first_link_failure = -40;
  constexpr int last_endpoint_failure = -89;
  switch (status) {
    case platform::ucx_no_memory: return ENOMEM;
    case platform::ucx_unreachable: return EHOSTUNREACH;
    case platform::ucx_unsupported: return EOPNOTSUPP;
    case platform::ucx_connection_reset:
    case platform::ucx_canceled:
    case io_error:
    case timed_out:
    case not_connected: return ECONNRESET;
    default: return status <= first_link_failure && status >= last_endpoint_failure ? ECONNRESET : EIO;
  }
}

tl::unexpected<base::Error> ucx_failure(const platform::UcxCalls& calls, const char* call, UcxStatus status) noexcept {
  return base::fail_vendor(errno_of_ucx(status), status, "UCX failed in %s: %s", call, calls.status_string(status));
}

base::Result<std::unique_ptr<UcxWorker>> UcxWorker::open(const platform::UcxCalls& calls, std::size_t endpoints,
                                                         bool is_direct, bool needs_cuda, UcxReceiver& receiver) {
  std::unique_ptr<UcxWorker> worker(new UcxWorker(calls));
  if (auto opened = worker->open_context(endpoints, is_direct); !opened) return base::pass(opened);
  if (is_direct && needs_cuda && !worker->supports_cuda()) {
    // This PE would never use puts and gets, but other processes that connect could.
    calls.cleanup(std::exchange(worker->context_, nullptr));
    if (auto opened = worker->open_context(endpoints, false); !opened) return base::pass(opened);
  }
  if (auto opened = worker->open_worker(receiver); !opened) return base::pass(opened);
  return worker;
}

base::Status UcxWorker::open_context(std::size_t endpoints, bool is_direct) noexcept {
  platform::UcxConfig* config = nullptr;
  if (const UcxStatus read = calls_.config_read(nullptr, nullptr, &config); read != platform::ucx_ok) {
    return ucx_failure(calls_, "ucp_config_read (UCX_* variables)", read);
  }
  // UCX checks liveness every 20 s by default; a dead PE must be detected within 10 s.
  if (std::getenv("UCX_KEEPALIVE_INTERVAL") == nullptr) {
    (void)calls_.config_modify(config, "KEEPALIVE_INTERVAL", "2s");
  }
  platform::UcxParams params;
  params.field_mask = platform::ucx_params_features | platform::ucx_params_endpoint_count;
  params.features = platform::ucx_feature_messages | platform::ucx_feature_wakeup;
  if (is_direct) params.features |= platform::ucx_feature_rma;
  params.endpoint_count = endpoints;
  const UcxStatus made =
      calls_.init_version(platform::ucx_api_major, platform::ucx_api_minor, &params, config, &context_);
  calls_.config_release(config);
  if (made != platform::ucx_ok) {
    context_ = nullptr;
    return ucx_failure(calls_, "ucp_init", made);
  }
  platform::UcxContextAttributes attributes;
  attributes.field_mask = platform::ucx_context_memory_types;
  if (const UcxStatus queried = calls_.context_query(context_, &attributes); queried != platform::ucx_ok) {
    return ucx_failure(calls_, "ucp_context_query", queried);
  }
  memory_types_ = attributes.memory_types;
  is_direct_ = is_direct;
  return {};
}

base::Status UcxWorker::open_worker(UcxReceiver& receiver) {
  platform::UcxWorkerParams params;
  params.field_mask = platform::ucx_worker_thread_mode;
  params.thread_mode = platform::ucx_thread_serialized;
  if (const UcxStatus made = calls_.worker_create(context_, &params, &worker_); made != platform::ucx_ok) {
    worker_ = nullptr;
    return ucx_failure(calls_, "ucp_worker_create", made);
  }
  platform::UcxMessageHandler handler;
  handler.field_mask = platform::ucx_handler_id | platform::ucx_handler_function | platform::ucx_handler_argument;
  handler.id = message_id;
  handler.argument = &receiver;
  handler.function = [](void* argument, const void* header, std::size_t header_bytes, void* data,
                        std::size_t size_bytes, const platform::UcxMessageDetails* details) {
    auto* const to = static_cast<UcxReceiver*>(argument);
    if ((details->attributes & platform::ucx_message_is_rendezvous) != 0) {
      to->receive_rendezvous(header, header_bytes);
    } else {
      to->receive(header, header_bytes, data, size_bytes);
    }
    return platform::ucx_ok;
  };
  if (const UcxStatus set = calls_.worker_set_am_recv_handler(worker_, &handler); set != platform::ucx_ok) {
    return ucx_failure(calls_, "ucp_worker_set_am_recv_handler", set);
  }
  if (const UcxStatus got = calls_.worker_get_efd(worker_, &event_fd_); got != platform::ucx_ok) {
    return base::fail_vendor(
        errno_of_ucx(got), got,
        "UCX failed in ucp_worker_get_efd: %s; set UCX_TLS to transports that support wake-up events",
        calls_.status_string(got));
  }
  platform::UcxAddress* address = nullptr;
  std::size_t size_bytes = 0;
  if (const UcxStatus got = calls_.worker_get_address(worker_, &address, &size_bytes); got != platform::ucx_ok) {
    return ucx_failure(calls_, "ucp_worker_get_address", got);
  }
  address_.assign(reinterpret_cast<const char*>(address), reinterpret_cast<const char*>(address) + size_bytes);
  calls_.worker_release_address(worker_, address);
  return {};
}

UcxWorker::~UcxWorker() {
  if (worker_ != nullptr) calls_.worker_destroy(worker_);
  if (context_ != nullptr) calls_.cleanup(context_);
}

base::Result<platform::UcxEndpoint*> UcxWorker::connect(const void* address, ErrorHandler handler,
                                                        void* argument) noexcept {
  platform::UcxEndpointParams params;
  params.field_mask =
      platform::ucx_endpoint_address | platform::ucx_endpoint_error_mode | platform::ucx_endpoint_error_handler;
  params.address = static_cast<const platform::UcxAddress*>(address);
  params.error_mode = error_mode_;
  params.error_handler.function = handler;
  params.error_handler.argument = argument;
  platform::UcxEndpoint* endpoint = nullptr;
  UcxStatus made = calls_.ep_create(worker_, &params, &endpoint);
  // Transports that cannot report errors create no such endpoint. If the other PE connected first without error
  // reports, this PE must do the same.
  const bool must_do_without = made == platform::ucx_unreachable || made == platform::ucx_unsupported;
  if (must_do_without && error_mode_ == platform::ucx_error_mode_peer) {
    params.error_mode = platform::ucx_error_mode_none;
    made = calls_.ep_create(worker_, &params, &endpoint);
    if (made == platform::ucx_ok) error_mode_ = platform::ucx_error_mode_none;
  }
  if (made != platform::ucx_ok) return ucx_failure(calls_, "ucp_ep_create", made);
  return endpoint;
}

}  // namespace gdrkit::shmem_impl::remote
