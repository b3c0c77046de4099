// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// rdma_cm as a library with librdmacm's names, for queue pairs of stand_in_verbs.cpp: each connection is a TCP
// connection of this machine, on which the ends exchange the numbers of their queue pairs. All addresses belong to the
// device soft0. It checks the order of calls, that every event is acknowledged before its id is destroyed, and that
// everything is released.
//   GDRKIT_STAND_IN_LOG    a file for "tos N" of each connection and listener
//   GDRKIT_STAND_IN_FAULT  "fail CALL N" or "kill CALL N": at the Nth call of this name, as rdma_connect;
//                          "requests first": the next request overtakes the message that establishes the previous
//                          connection
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include "platform/vendor/rdma_cm_library.hpp"
#include "platform/vendor/verbs_library.hpp"
#include "transfer/perftest/stand_in.hpp"

using namespace gdrkit::platform;
using namespace stand_in;

namespace {

enum class MessageKind : std::uint32_t { request, response, ready };
struct Message {
  MessageKind kind;
  std::uint32_t number;
  std::uint32_t reads;
};
struct StandInChannel : CmChannel {
  int bell = -1;
  std::deque<CmEvent*> events;
};
struct StandInId : CmId {
  int socket = -1;
  int port = 0;
  bool listens = false;
  std::uint32_t own_number = 0;
  std::uint32_t remote_number = 0;
  std::uint32_t reads = 0;
  int unacknowledged = 0;
};

bool fails(const char* call) { return fault.fails(call, EIO); }

bool puts_requests_first() {
  const char* const fault = std::getenv("GDRKIT_STAND_IN_FAULT");
  return fault != nullptr && std::string(fault) == "requests first";
}

[[noreturn]] void misused(const char* how) {
  std::fprintf(stderr, "stand_in_rdma_cm: %s\n", how);
  std::abort();
}

VerbsContext* context() {
  static VerbsContext context;
  if (context.device != nullptr) return &context;
  void* const verbs = ::dlopen("libibverbs.so.1", RTLD_NOW);
  const auto list = reinterpret_cast<VerbsDeviceHandle** (*)(int*)>(::dlsym(verbs, "ibv_get_device_list"));
  const auto free_list = reinterpret_cast<void (*)(VerbsDeviceHandle**)>(::dlsym(verbs, "ibv_free_device_list"));
  int count = 0;
  VerbsDeviceHandle** const devices = list(&count);
  context.device = devices[0];
  free_list(devices);
  return &context;
}

CmEvent* event_of(StandInId* id, int kind) {
  auto* const event = new CmEvent;
  event->id = id;
  event->kind = kind;
  ++id->unacknowledged;
  ++objects;
  return event;
}

void push(StandInId* id, int kind) {
  auto* const channel = static_cast<StandInChannel*>(id->channel);
  channel->events.push_back(event_of(id, kind));
  const std::uint64_t one = 1;
  if (::write(channel->bell, &one, sizeof one) != sizeof one) misused("the bell is broken");
}

void watch(StandInId* id) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.ptr = id;
  (void)::epoll_ctl(id->channel->descriptor, EPOLL_CTL_ADD, id->socket, &interest);
}

bool send_message(const StandInId& id, MessageKind kind) {
  const Message message{kind, id.own_number, id.reads};
  return ::send(id.socket, &message, sizeof message, MSG_NOSIGNAL) == sizeof message;
}

StandInId* make_id(CmChannel* channel) {
  auto* const id = new StandInId;
  id->channel = channel;
  ++objects;
  return id;
}

/// The source of an arrived message: an id, or nullptr for the wake-up pipe.
StandInId* next_id(const StandInChannel& channel) {
  epoll_event ready[16] = {};
  int count = ::epoll_wait(channel.descriptor, ready, 16, -1);
  if (puts_requests_first()) {
    ::usleep(100'000);
    count = ::epoll_wait(channel.descriptor, ready, 16, -1);
    for (int each = 0; each < count; ++each) {
      auto* const id = static_cast<StandInId*>(ready[each].data.ptr);
      if (id != nullptr && id->listens) return id;
    }
  }
  return static_cast<StandInId*>(ready[0].data.ptr);
}

/// The message for an id as an event; nullptr: nothing to report.
CmEvent* received_event(StandInId* id) {
  StandInId* from = id;
  if (id->listens) {
    from = make_id(id->channel);
    socklen_t size_bytes = sizeof from->destination;
    from->socket = ::accept4(id->socket, reinterpret_cast<sockaddr*>(&from->destination), &size_bytes, SOCK_CLOEXEC);
    from->verbs = context();
  }
  Message message{};
  if (::recv(from->socket, &message, sizeof message, MSG_WAITALL) != sizeof message) {
    (void)::epoll_ctl(from->channel->descriptor, EPOLL_CTL_DEL, from->socket, nullptr);
    return event_of(from, cm_disconnected);
  }
  if (message.kind != MessageKind::ready) from->remote_number = message.number;
  CmEvent* const event = event_of(from, message.kind == MessageKind::request    ? cm_connect_request
                                        : message.kind == MessageKind::response ? cm_connect_response
                                                                                : cm_established);
  event->connection.reads_in = event->connection.reads_out = static_cast<std::uint8_t>(message.reads);
  if (id->listens) watch(from);
  return event;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT CmChannel* rdma_create_event_channel() {
  if (fails("rdma_create_event_channel")) return nullptr;
  auto* const channel = new StandInChannel;
  channel->descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  channel->bell = ::eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
  epoll_event interest{};
  interest.events = EPOLLIN;
  (void)::epoll_ctl(channel->descriptor, EPOLL_CTL_ADD, channel->bell, &interest);
  ++objects;
  return channel;
}
EXPORT void rdma_destroy_event_channel(CmChannel* handle) {
  auto* const channel = static_cast<StandInChannel*>(handle);
  ::close(channel->descriptor);
  ::close(channel->bell);
  delete channel;
  --objects;
}
EXPORT int rdma_create_id(CmChannel* channel, CmId** id, void*, int port_space) {
  if (fails("rdma_create_id") || port_space != cm_port_space_tcp) return -1;
  *id = make_id(channel);
  return 0;
}
EXPORT int rdma_ack_cm_event(CmEvent* event) {
  --static_cast<StandInId*>(event->id)->unacknowledged;
  delete event;
  --objects;
  return 0;
}
EXPORT int rdma_destroy_id(CmId* handle) {
  auto* const id = static_cast<StandInId*>(handle);
  // Events that were not fetched are destroyed with their id; librdmacm would wait for the others forever.
  auto& events = static_cast<StandInChannel*>(id->channel)->events;
  std::erase_if(events, [id](CmEvent* event) {
    if (event->id != id) return false;
    rdma_ack_cm_event(event);
    return true;
  });
  if (id->unacknowledged != 0) misused("an id is destroyed before its events are acknowledged");
  if (id->socket >= 0) ::close(id->socket);
  delete id;
  --objects;
  return 0;
}
EXPORT int rdma_bind_addr(CmId* handle, sockaddr* address) {
  if (fails("rdma_bind_addr")) return -1;
  if (address->sa_family != AF_INET) return errno = EAFNOSUPPORT, -1;
  static_cast<StandInId*>(handle)->port = reinterpret_cast<sockaddr_in*>(address)->sin_port;
  return 0;
}
EXPORT int rdma_listen(CmId* handle, int backlog) {
  if (fails("rdma_listen")) return -1;
  auto* const id = static_cast<StandInId*>(handle);
  id->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(id->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = static_cast<in_port_t>(id->port);
  if (::bind(id->socket, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0) return -1;
  id->listens = true;
  watch(id);
  return ::listen(id->socket, backlog);
}
EXPORT int rdma_resolve_addr(CmId* handle, sockaddr*, sockaddr* destination, int) {
  if (fails("rdma_resolve_addr")) return -1;
  auto* const id = static_cast<StandInId*>(handle);
  std::memcpy(&id->destination, destination, sizeof(sockaddr_in));
  id->verbs = context();
  push(id, cm_address_resolved);
  return 0;
}
EXPORT int rdma_set_option(CmId*, int level, int option, void* value, std::size_t size_bytes) {
  if (fails("rdma_set_option")) return -1;
  if (level == cm_option_id && option == cm_option_type_of_service && size_bytes == 1) {
    write_log("tos " + std::to_string(*static_cast<std::uint8_t*>(value)));
  }
  return 0;
}
EXPORT int rdma_resolve_route(CmId* handle, int) {
  if (fails("rdma_resolve_route")) return -1;
  push(static_cast<StandInId*>(handle), cm_route_resolved);
  return 0;
}
EXPORT int rdma_init_qp_attr(CmId* handle, VerbsPairState* state, int* mask) {
  if (fails("rdma_init_qp_attr")) return -1;
  const auto* const id = static_cast<StandInId*>(handle);
  *mask = verbs_set_state;
  if (state->state == verbs_state_init) {
    state->port = 1;
    *mask |= verbs_set_pkey_index | verbs_set_port | verbs_set_access;
  } else if (id->remote_number == 0) {
    return errno = EINVAL, -1;
  } else if (state->state == verbs_state_ready_to_receive) {
    state->remote_pair = id->remote_number;
    state->path_mtu = 5;
    *mask |= verbs_set_path | verbs_set_path_mtu | verbs_set_remote_pair | verbs_set_receive_psn |
             verbs_set_max_reads_in | verbs_set_min_rnr_timer;
  } else {
    *mask |=
        verbs_set_send_psn | verbs_set_timeout | verbs_set_retries | verbs_set_rnr_retries | verbs_set_max_reads_out;
  }
  return 0;
}
EXPORT int rdma_connect(CmId* handle, CmParameters* parameters) {
  if (fails("rdma_connect")) return -1;
  auto* const id = static_cast<StandInId*>(handle);
  id->own_number = parameters->pair_number;
  id->reads = parameters->reads_in;
  id->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(id->socket, reinterpret_cast<sockaddr*>(&id->destination), sizeof(sockaddr_in)) != 0) {
    push(id, cm_rejected);
    return 0;
  }
  watch(id);
  return send_message(*id, MessageKind::request) ? 0 : -1;
}
EXPORT int rdma_accept(CmId* handle, CmParameters* parameters) {
  if (fails("rdma_accept")) return -1;
  auto* const id = static_cast<StandInId*>(handle);
  id->own_number = parameters->pair_number;
  id->reads = parameters->reads_in;
  return send_message(*id, MessageKind::response) ? 0 : -1;
}
EXPORT int rdma_establish(CmId* handle) {
  if (fails("rdma_establish")) return -1;
  return send_message(*static_cast<StandInId*>(handle), MessageKind::ready) ? 0 : -1;
}
EXPORT int rdma_disconnect(CmId* handle) {
  const auto* const id = static_cast<StandInId*>(handle);
  if (id->listens) return errno = EINVAL, -1;
  return ::shutdown(id->socket, SHUT_WR);
}
EXPORT int rdma_get_cm_event(CmChannel* handle, CmEvent** event) {
  if (fails("rdma_get_cm_event")) return -1;
  auto* const channel = static_cast<StandInChannel*>(handle);
  if (StandInId* const id = next_id(*channel); id != nullptr) {
    *event = received_event(id);
    return 0;
  }
  std::uint64_t one = 0;
  if (::read(channel->bell, &one, sizeof one) != sizeof one || channel->events.empty()) misused("no event is there");
  *event = channel->events.front();
  channel->events.pop_front();
  return 0;
}
EXPORT const char* rdma_event_str(int kind) {
  return kind == cm_rejected ? "RDMA_CM_EVENT_REJECTED" : "another event than expected";
}
