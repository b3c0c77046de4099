// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/perftest/connection_manager.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::transfer::perftest {
namespace {

using namespace platform;

constexpr int resolve_limit_ms = 2000;
constexpr std::uint8_t most_cm_retries = 7;  // as a number of RNR retries: infinite
constexpr std::uint8_t cm_rnr_timer = 12;    // 0.64 ms; rdma_cm would set 655 ms
constexpr auto time_between_requests = std::chrono::milliseconds(100);
/// A server of perftest listens again for each group of queue pairs.
constexpr auto time_for_listener = std::chrono::seconds(5);

const platform::CmCalls* load_cm_calls() {
  const auto calls = cm_calls();
  if (calls) return *calls;
  cli::cannot_run(cli::format("gdrkit perftest: %s, or omit -R and -z", calls.error().text()));
}

struct CmAddress {
  sockaddr_storage bytes{};
  [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
};

/// In both families the port follows the family, and zero is the wildcard address.
CmAddress any_address(sa_family_t family, int port) {
  CmAddress address;
  sockaddr_in any{};
  any.sin_family = family;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  std::memcpy(&address.bytes, &any, sizeof any);
  return address;
}

CmAddress address_of(const std::string& host, int port, bool is_ipv6) {
  addrinfo hints{};
  hints.ai_family = is_ipv6 ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int resolved = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (resolved != 0) {
    cli::fail("gdrkit perftest: cannot find host " + cli::printable(host) + ": " + ::gai_strerror(resolved) +
              "; check the name or use its address");
  }
  CmAddress address;
  std::memcpy(&address.bytes, list->ai_addr, list->ai_addrlen);
  ::freeaddrinfo(list);
  return address;
}

}  // namespace

ConnectionManager::ConnectionManager(const Endpoint& endpoint, const Plan& plan)
    : calls_(load_cm_calls()), endpoint_(endpoint), plan_(plan), opened_(calls_) {
  errno = 0;
  opened_.channel = calls_->create_event_channel();
  if (opened_.channel == nullptr) {
    cli::cannot_run(std::string("gdrkit perftest: cannot use rdma_cm (rdma_create_event_channel): ") +
                    std::strerror(errno) + "; load rdma_ucm, and check /dev/infiniband/rdma_cm");
  }
  if (plan_.is_server) listen();
}

ConnectionManager::Opened::~Opened() {
  for (platform::CmId* const id : ids) (void)calls->destroy_id(id);
  if (channel != nullptr) calls->destroy_event_channel(channel);
}

void ConnectionManager::fail_cm(const char* call, int error, const std::string& remedy) const {
  fail_call(std::string("cannot connect by rdma_cm (") + call + ")" +
                (plan_.is_server ? "" : " to " + cli::printable(plan_.host)),
            error, remedy);
}

platform::CmId* ConnectionManager::make_id() {
  platform::CmId* id = nullptr;
  errno = 0;
  if (calls_->create_id(opened_.channel, &id, nullptr, cm_port_space_tcp) != 0) fail_cm("rdma_create_id", errno);
  opened_.ids.push_back(id);
  return id;
}

/// Connections inherit it from the listener that accepts them.
void ConnectionManager::set_type_of_service(platform::CmId* id) {
  if (plan_.options->type_of_service < 0) return;
  auto value = static_cast<std::uint8_t>(plan_.options->type_of_service);
  errno = 0;
  if (calls_->set_option(id, cm_option_id, cm_option_type_of_service, &value, sizeof value) != 0) {
    fail_cm("rdma_set_option", errno, "omit -T");
  }
}

void ConnectionManager::listen() {
  platform::CmId* const listener = make_id();
  set_type_of_service(listener);
  const ExchangeRoute route = plan_.options->route();
  // An IPv6 listener accepts clients of both families.
  CmAddress six = route.source.empty() ? any_address(AF_INET6, plan_.tcp_port)
                                       : address_of(route.source, plan_.tcp_port, route.is_ipv6_only);
  CmAddress four = any_address(AF_INET, plan_.tcp_port);
  const bool may_fall_back = route.source.empty() && !route.is_ipv6_only;
  errno = 0;
  if (calls_->bind_address(listener, six.get()) != 0 &&
      (!may_fall_back || calls_->bind_address(listener, four.get()) != 0)) {
    fail_cm("rdma_bind_addr", errno,
            cli::format("choose another port than %d with -p on client and server", plan_.tcp_port));
  }
  errno = 0;
  if (calls_->listen(listener, plan_.options->pairs + 1) != 0) fail_cm("rdma_listen", errno);
}

ConnectionManager::Event ConnectionManager::next_event(Deadline until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd waiting{opened_.channel->descriptor, POLLIN, 0};
    // A server may wait without a limit. The deadline may be further away than poll() supports.
    const int wait_ms = static_cast<int>(std::clamp<long long>(left, 0, 1000));
    const int ready = ::poll(&waiting, 1, wait_ms);
    if (ready > 0) break;
    if (left <= wait_ms && ready == 0) return {nullptr, {calls_}};
  }
  platform::CmEvent* event = nullptr;
  errno = 0;
  if (calls_->get_event(opened_.channel, &event) != 0) fail_cm("rdma_get_cm_event", errno);
  if (event->kind == cm_connect_request) opened_.ids.push_back(event->id);  // a new one, also if the event is ignored
  return {event, {calls_}};
}

bool ConnectionManager::is_end(const Event& event) const noexcept {
  return event->kind == cm_disconnected || event->kind == cm_device_removal;
}

ConnectionManager::Event ConnectionManager::await(Deadline until, const char* step) {
  Event event(nullptr, {calls_});
  if (kept_.empty()) {
    event = next_event(until);
  } else {
    event = std::move(kept_.front());
    kept_.pop_front();
  }
  if (event == nullptr) {
    cli::fail(
        cli::format("gdrkit perftest: received nothing by rdma_cm from %s during '%s'; see the error message of the "
                    "%s, or increase --timeout",
                    plan_.is_server ? "a client" : cli::printable(plan_.host).c_str(), step,
                    plan_.is_server ? "client" : "server"));
  }
  if (!is_end(event)) return event;
  has_ended_ = true;
  cli::fail(cli::format("gdrkit perftest: %s %s has ended the connection during '%s'; see the error message of the %s",
                        plan_.is_server ? "client" : "server", peer().c_str(), step,
                        plan_.is_server ? "client" : "server"));
}

void ConnectionManager::expect(int kind, Deadline until, const char* step) {
  Event event = await(until, step);
  // The client continues after sending the message that establishes a connection here, so its next request may arrive
  // earlier.
  std::deque<Event> requests;
  while (kind == cm_established && event->kind == cm_connect_request) {
    requests.push_back(std::move(event));
    event = await(until, step);
  }
  std::move(requests.rbegin(), requests.rend(), std::front_inserter(kept_));
  if (event->kind == kind) return;
  cli::fail(
      cli::format("gdrkit perftest: cannot connect by rdma_cm%s: %s (status %d) during '%s'; %s",
                  plan_.is_server ? "" : (" to " + cli::printable(plan_.host)).c_str(), calls_->event_text(event->kind),
                  event->status, step,
                  plan_.is_server ? "see the client's error message" : "use the IP address of an RDMA device as HOST"));
}

void ConnectionManager::check_device(const platform::CmId& id) const {
  if (id.verbs == nullptr) return;
  const std::string name =
      endpoint_.verbs().control->get_device_name(static_cast<VerbsDeviceHandle*>(id.verbs->device));
  if (name == endpoint_.device()) return;
  cli::reject(cli::format("gdrkit perftest: rdma_cm selected RDMA device %s, but the test uses %s; use -d %s",
                          name.c_str(), endpoint_.device().c_str(), name.c_str()));
}

/// Sets the attributes that rdma_cm leaves open as without rdma_cm: `reads` in both directions, retries, access.
void ConnectionManager::enter(platform::CmId* id, const CmPair& pair, int state, int reads, const char* name) {
  platform::VerbsPairState attributes;
  attributes.state = state;
  int mask = 0;
  errno = 0;
  if (calls_->init_pair_state(id, &attributes, &mask) != 0) fail_cm("rdma_init_qp_attr", errno);
  const auto number = static_cast<std::uint8_t>(reads);
  if (state == verbs_state_init) {
    attributes.access = platform::verbs_access_local_write | verbs_access_remote_write | verbs_access_remote_read |
                        verbs_access_remote_atomic;
  } else if (state == verbs_state_ready_to_receive) {
    attributes.max_reads_in = number;
    attributes.min_rnr_timer = cm_rnr_timer;
  } else {
    attributes.max_reads_out = number;
    attributes.timeout = static_cast<std::uint8_t>(plan_.options->qp_timeout);
    attributes.retries = attributes.rnr_retries = most_cm_retries;
  }
  pair.modify(&attributes, mask, name);
}

void ConnectionManager::accept(const CmPair& pair, Deadline until, const char* step) {
  const Event event = await(until, step);
  if (event->kind != cm_connect_request) {
    cli::fail(
        cli::format("gdrkit perftest: cannot accept a client by rdma_cm: %s (status %d) during '%s'; see the client's "
                    "error message",
                    calls_->event_text(event->kind), event->status, step));
  }
  platform::CmId* const id = event->id;
  connected_ = id;
  check_device(*id);
  const int reads = std::min<int>({pair.reads, event->connection.reads_in, event->connection.reads_out});
  enter(id, pair, verbs_state_init, reads, "INIT");
  enter(id, pair, verbs_state_ready_to_receive, std::max(1, reads), "RTR");
  enter(id, pair, verbs_state_ready_to_send, std::max(1, reads), "RTS");
  CmParameters own;
  own.reads_in = own.reads_out = static_cast<std::uint8_t>(reads);
  own.retries = own.rnr_retries = most_cm_retries;
  own.pair_number = pair.number;
  errno = 0;
  if (calls_->accept(id, &own) != 0) fail_cm("rdma_accept", errno);
}

bool ConnectionManager::request(const CmPair& pair, Deadline until, const char* step) {
  platform::CmId* const id = make_id();
  const ExchangeRoute route = plan_.options->route();
  CmAddress server = address_of(plan_.host, plan_.tcp_port, route.is_ipv6_only);
  CmAddress source;
  if (!route.source.empty()) source = address_of(route.source, 0, route.is_ipv6_only);
  set_type_of_service(id);
  errno = 0;
  if (calls_->resolve_address(id, route.source.empty() ? nullptr : source.get(), server.get(), resolve_limit_ms) != 0) {
    fail_cm("rdma_resolve_addr", errno);
  }
  expect(cm_address_resolved, until, step);
  check_device(*id);
  auto timeout = static_cast<std::uint8_t>(plan_.options->qp_timeout);
  (void)calls_->set_option(id, cm_option_id, cm_option_ack_timeout, &timeout, sizeof timeout);  // since Linux 5.1
  errno = 0;
  if (calls_->resolve_route(id, resolve_limit_ms) != 0) fail_cm("rdma_resolve_route", errno);
  expect(cm_route_resolved, until, step);
  CmParameters own;
  own.reads_in = own.reads_out = static_cast<std::uint8_t>(pair.reads);
  own.retries = own.rnr_retries = most_cm_retries;
  own.pair_number = pair.number;
  errno = 0;
  if (calls_->connect(id, &own) != 0) fail_cm("rdma_connect", errno);
  int reads = pair.reads;
  {
    const Event event = await(until, step);
    if (event->kind == cm_rejected) return false;
    if (event->kind != cm_connect_response) {
      cli::fail(
          cli::format("gdrkit perftest: cannot connect by rdma_cm to %s: %s (status %d) during '%s'; see the server's "
                      "error message",
                      cli::printable(plan_.host).c_str(), calls_->event_text(event->kind), event->status, step));
    }
    reads = std::min<int>({reads, event->connection.reads_in, event->connection.reads_out});
  }
  connected_ = id;
  enter(id, pair, verbs_state_init, reads, "INIT");
  enter(id, pair, verbs_state_ready_to_receive, std::max(1, reads), "RTR");
  enter(id, pair, verbs_state_ready_to_send, std::max(1, reads), "RTS");
  errno = 0;
  if (calls_->establish(id) != 0) fail_cm("rdma_establish", errno);
  return true;
}

void ConnectionManager::connect(const CmPair& pair, std::chrono::seconds limit, const char* step) {
  const auto now = std::chrono::steady_clock::now();
  const auto until = limit.count() == 0 ? now + std::chrono::hours(24 * 365) : now + limit;
  if (plan_.is_server) {
    accept(pair, until, step);
    expect(cm_established, now + std::chrono::seconds(plan_.options->timeout_s), step);
    return;
  }
  const auto last_try = std::min(until, now + time_for_listener);
  while (!request(pair, until, step)) {
    if (std::chrono::steady_clock::now() > last_try) {
      cli::fail(
          cli::format("gdrkit perftest: cannot connect by rdma_cm to %s, port %d: no server is listening; start the "
                      "server first, with the same options -p, -R and -z",
                      cli::printable(plan_.host).c_str(), plan_.tcp_port));
    }
    (void)calls_->destroy_id(opened_.ids.back());
    opened_.ids.pop_back();
    std::this_thread::sleep_for(time_between_requests);
  }
}

std::string ConnectionManager::peer() const {
  if (!plan_.is_server) return cli::printable(plan_.host);
  if (connected_ == nullptr) return "?";
  char host[NI_MAXHOST] = "?";
  (void)::getnameinfo(reinterpret_cast<const sockaddr*>(&connected_->destination),
                      connected_->destination.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in), host,
                      sizeof host, nullptr, 0, NI_NUMERICHOST);
  return host;
}

bool ConnectionManager::has_ended() {
  pollfd waiting{opened_.channel->descriptor, POLLIN, 0};
  while (!has_ended_ && ::poll(&waiting, 1, 0) > 0) {
    Event event = next_event(std::chrono::steady_clock::now());
    if (event == nullptr) break;
    has_ended_ = is_end(event);
    if (!has_ended_) kept_.push_back(std::move(event));
  }
  return has_ended_;
}

void ConnectionManager::end(std::chrono::milliseconds most) noexcept {
  if (connected_ == nullptr) return;
  if (plan_.is_server) {
    for (platform::CmId* const id : opened_.ids) (void)calls_->disconnect(id);  // fails for the listener
    return;
  }
  const auto until = std::chrono::steady_clock::now() + most;
  try {
    while (!has_ended() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const cli::Failure&) {  // the test is over
  }
}

}  // namespace gdrkit::transfer::perftest
