// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two RDMA devices, soft0 and soft1, as a library with libibverbs' names: requests are executed by copies between
// processes (process_vm_writev), queues are in a file that the processes of a test share. It checks keys, ranges and
// states like an adapter.
//   GDRKIT_STAND_IN_MLX5   the devices are called mlx5_0 and mlx5_1
//   GDRKIT_STAND_IN_ROOM   the shared file; objects that a process has not released are written to <room>.leaks
//   GDRKIT_STAND_IN_LOG    a log file: "path TRAFFIC_CLASS FLOW_LABEL GID_INDEX" of each connection, and "list N" of
//                          each call that posts several requests
//   GDRKIT_STAND_IN_FAULT  "fail CALL N", "kill CALL N", "stop CALL N", "status CALL N" or "corrupt CALL N": at the Nth
//                          call of this name the call fails, the process is killed or stopped, a request completes with
//                          an error, or one byte is changed
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "platform/vendor/verbs_library.hpp"
#include "transfer/perftest/stand_in.hpp"

using namespace gdrkit::platform;
using namespace stand_in;

namespace {

constexpr int most_pairs = 64;
constexpr int ring_size = 4096;
constexpr std::size_t grh_bytes = 40;
constexpr int remote_access_error = 10;
constexpr int retries_exceeded = 12;

struct SharedReceive {
  std::uint64_t id;
  std::uint64_t address;
  std::uint32_t size_bytes;
};
template <class T>
struct Ring {
  T entries[ring_size];
  std::uint64_t head;
  std::uint64_t tail;
  [[nodiscard]] bool is_empty() const { return head == tail; }
  [[nodiscard]] bool is_full() const { return tail - head == ring_size; }
  void push(const T& entry) { entries[tail++ % ring_size] = entry; }
  T pop() { return entries[head++ % ring_size]; }
};
struct SharedPair {
  pid_t process;
  int state;
  int queue;
  Ring<SharedReceive> receives;
};
struct SharedQueue {
  pid_t process;
  Ring<VerbsCompletion> completions;
};
struct SharedRegion {
  pid_t process;
  std::uint64_t address;
  std::uint64_t size_bytes;
  int access;
};
struct Room {
  std::atomic<pid_t> owner;
  SharedPair pairs[most_pairs];
  SharedQueue queues[most_pairs];
  SharedRegion regions[most_pairs];
};

Room* room = nullptr;

/// Released if the process that holds it dies.
struct Lock {
  Lock() {
    const pid_t own = ::getpid();
    for (pid_t seen = 0; !room->owner.compare_exchange_weak(seen, own); seen = 0) {
      if (seen != 0 && ::kill(seen, 0) != 0 && room->owner.compare_exchange_strong(seen, own)) break;
      ::usleep(10);
    }
  }
  ~Lock() { room->owner.store(0); }
};

/// Opens the shared file while the library is loaded.
[[maybe_unused]] const bool is_in_room = [] {
  (void)::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  const char* const path = std::getenv("GDRKIT_STAND_IN_ROOM");
  if (path == nullptr) return false;
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Room)) != 0) std::abort();
  room = static_cast<Room*>(::mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ::close(file);
  return true;
}();

bool fails(const char* call) { return fault.fails(call, ENOMEM); }

void write_path(const VerbsPath& path) {
  write_log("path " + std::to_string(path.traffic_class) + " " + std::to_string(path.flow_label) + " " +
            std::to_string(path.gid_index));
}

struct Pending {
  VerbsSend send;
  VerbsElement element;
  std::vector<std::uint8_t> inlined;
};
struct StandInPair : VerbsQueuePair {
  int slot;
  int kind;
  std::uint32_t remote;
  std::size_t depth;
  std::deque<Pending> pending;
};
struct StandInQueue : VerbsCompletionQueue {
  int slot;
};
std::vector<StandInPair*> pairs;

bool copy(pid_t process, std::uint64_t remote, void* local, std::size_t size_bytes, bool is_write) {
  iovec here{local, size_bytes};
  iovec there{reinterpret_cast<void*>(remote), size_bytes};
  const ssize_t copied = is_write ? ::process_vm_writev(process, &here, 1, &there, 1, 0)
                                  : ::process_vm_readv(process, &here, 1, &there, 1, 0);
  return copied == static_cast<ssize_t>(size_bytes);
}

const SharedRegion* region_of(std::uint32_t key, std::uint64_t address, std::uint64_t size_bytes, int access) {
  const SharedRegion& region = room->regions[key % most_pairs];
  const bool is_inside = address >= region.address && address + size_bytes <= region.address + region.size_bytes;
  return region.process != 0 && is_inside && (region.access & access) == access ? &region : nullptr;
}

void complete(StandInPair* pair, const Pending& work, int status) {
  if (status == 0 && (work.send.flags & verbs_signaled) == 0) return;
  VerbsCompletion completion;
  completion.id = work.send.id;
  completion.status = status;
  completion.pair_number = pair->number;
  room->queues[room->pairs[pair->slot].queue].completions.push(completion);
}

int remote_memory(StandInPair* pair, Pending& work, void* data) {
  const int operation = work.send.operation;
  const bool is_atomic = operation == verbs_fetch_and_add;
  const std::uint64_t address = is_atomic ? work.send.to.word.address : work.send.to.memory.address;
  const std::uint32_t key = is_atomic ? work.send.to.word.rkey : work.send.to.memory.rkey;
  const int access = is_atomic                 ? verbs_access_remote_atomic
                     : operation == verbs_read ? verbs_access_remote_read
                                               : verbs_access_remote_write;
  const SharedPair& remote = room->pairs[pair->remote % most_pairs];
  const SharedRegion* const region = region_of(key, address, work.element.size_bytes, access);
  if (region == nullptr || region->process != remote.process) {
    return remote.process != 0 && ::kill(remote.process, 0) == 0 ? remote_access_error : retries_exceeded;
  }
  if (operation == verbs_write || operation == verbs_write_with_immediate) {
    return copy(region->process, address, data, work.element.size_bytes, true) ? 0 : retries_exceeded;
  }
  if (operation == verbs_read) {
    return copy(region->process, address, data, work.element.size_bytes, false) ? 0 : retries_exceeded;
  }
  std::uint64_t word = 0;
  if (!copy(region->process, address, &word, sizeof word, false)) return retries_exceeded;
  std::memcpy(data, &word, sizeof word);
  word += work.send.to.word.compare_or_add;
  return copy(region->process, address, &word, sizeof word, true) ? 0 : retries_exceeded;
}

/// -1: the other end has posted no receive yet.
int message(StandInPair* pair, const Pending& work, void* data) {
  const bool is_datagram = pair->kind == verbs_pair_ud;
  SharedPair& remote = room->pairs[(is_datagram ? work.send.to.pair.number : pair->remote) % most_pairs];
  if (remote.process == 0 || ::kill(remote.process, 0) != 0) return is_datagram ? 0 : retries_exceeded;
  if (remote.receives.is_empty()) return is_datagram ? 0 : -1;
  const SharedReceive receive = remote.receives.pop();
  const std::size_t header = is_datagram ? grh_bytes : 0;
  if (work.element.size_bytes + header > receive.size_bytes ||
      !copy(remote.process, receive.address + header, data, work.element.size_bytes, true)) {
    return retries_exceeded;
  }
  VerbsCompletion completion;
  completion.id = receive.id;
  completion.size_bytes = static_cast<std::uint32_t>(work.element.size_bytes + header);
  room->queues[remote.queue].completions.push(completion);
  return 0;
}

/// Like a write, but consumes a receive at the target. Returns -1 if the other end has posted none yet.
int write_with_immediate(StandInPair* pair, Pending& work, void* data) {
  SharedPair& remote = room->pairs[pair->remote % most_pairs];
  const bool is_alive = remote.process != 0 && ::kill(remote.process, 0) == 0;
  if (is_alive && remote.receives.is_empty()) return -1;
  const int status = remote_memory(pair, work, data);
  if (status != 0) return status;
  VerbsCompletion completion;
  completion.id = remote.receives.pop().id;
  completion.size_bytes = work.element.size_bytes;
  completion.immediate = work.send.immediate;
  room->queues[remote.queue].completions.push(completion);
  return 0;
}

int carry_out(StandInPair* pair, Pending& work, void* data) {
  if (work.send.operation == verbs_send) return message(pair, work, data);
  return work.send.operation == verbs_write_with_immediate ? write_with_immediate(pair, work, data)
                                                           : remote_memory(pair, work, data);
}

void progress(StandInPair* pair) {
  while (!pair->pending.empty()) {
    Pending& work = pair->pending.front();
    if (room->queues[room->pairs[pair->slot].queue].completions.is_full()) return;
    void* const data = work.inlined.empty() ? reinterpret_cast<void*>(work.element.address) : work.inlined.data();
    if (fault.is_now("corrupt", "send")) static_cast<std::uint8_t*>(data)[work.element.size_bytes - 1] ^= 1;
    int status = carry_out(pair, work, data);
    if (status < 0) return;
    if (fault.is_now("status", "send")) status = remote_access_error;
    complete(pair, work, status);
    pair->pending.pop_front();
  }
}

int poll(VerbsCompletionQueue* handle, int most, VerbsCompletion* completions) {
  if (fails("poll")) return -1;
  const Lock lock;
  for (StandInPair* pair : pairs) progress(pair);
  auto& ring = room->queues[static_cast<StandInQueue*>(handle)->slot].completions;
  int count = 0;
  while (count < most && !ring.is_empty()) completions[count++] = ring.pop();
  return count;
}

int post_send(VerbsQueuePair* handle, VerbsSend* send, VerbsSend**) {
  auto* const pair = static_cast<StandInPair*>(handle);
  if (fails("post_send")) return ENOMEM;
  if (room->pairs[pair->slot].state != verbs_state_ready_to_send) return EINVAL;
  const Lock lock;
  unsigned count = 0;
  for (const VerbsSend* one = send; one != nullptr; one = one->next, ++count) {
    if (pair->pending.size() >= pair->depth) return ENOMEM;
    Pending work{*one, *one->elements, {}};
    const auto* const data = reinterpret_cast<const std::uint8_t*>(work.element.address);
    if ((one->flags & verbs_inline) != 0) work.inlined.assign(data, data + work.element.size_bytes);
    pair->pending.push_back(std::move(work));
  }
  if (count > 1) write_log("list " + std::to_string(count));
  progress(pair);
  return 0;
}

int post_receive(VerbsQueuePair* handle, VerbsReceive* receive, VerbsReceive**) {
  if (fails("post_recv")) return ENOMEM;
  const Lock lock;
  SharedPair& pair = room->pairs[static_cast<StandInPair*>(handle)->slot];
  if (pair.receives.is_full() || pair.state < verbs_state_init) return ENOMEM;
  pair.receives.push({receive->id, receive->elements->address, receive->elements->size_bytes});
  return 0;
}

template <class T>
T* made(T* object) {
  ++objects;
  return object;
}
template <class T>
int gone(T* object) {
  delete object;
  --objects;
  return 0;
}

/// Returns the first entry, from `first` on, that no living process uses; -1 if there is none.
template <class Entry>
int free_slot(const Entry (&entries)[most_pairs], int first = 0) {
  for (int slot = first; slot < most_pairs; ++slot) {
    if (entries[slot].process == 0 || ::kill(entries[slot].process, 0) != 0) return slot;
  }
  return -1;
}

VerbsRegion* make_region(VerbsDomain* domain, std::uint64_t address, std::size_t size_bytes, int access) {
  const Lock lock;
  const int key = free_slot(room->regions, 1);
  if (key < 0) return errno = ENOSPC, nullptr;
  room->regions[key] = {::getpid(), address, size_bytes, access};
  auto* const region = new VerbsRegion;
  region->domain = domain;
  region->lkey = region->rkey = static_cast<std::uint32_t>(key);
  return made(region);
}

char names[2][8] = {"soft0", "soft1"};
VerbsDeviceHandle* list[3] = {};

}  // namespace

struct gdrkit::platform::VerbsDomain {
  int unused = 0;
};

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT VerbsDeviceHandle** ibv_get_device_list(int* count) {
  if (fails("get_device_list")) return nullptr;
  if (std::getenv("GDRKIT_STAND_IN_ABSENT") != nullptr) return errno = ENOSYS, nullptr;  // as without ib_uverbs
  *count = std::getenv("GDRKIT_STAND_IN_EMPTY") != nullptr ? 0 : 2;
  for (int i = 0; std::getenv("GDRKIT_STAND_IN_MLX5") != nullptr && i < 2; ++i) {
    std::memcpy(names[i], i == 0 ? "mlx5_0" : "mlx5_1", sizeof "mlx5_0");
  }
  for (int i = 0; i < *count; ++i) list[i] = reinterpret_cast<VerbsDeviceHandle*>(names[i]);
  return made(list);
}
EXPORT void ibv_free_device_list(VerbsDeviceHandle**) { --objects; }
EXPORT const char* ibv_get_device_name(VerbsDeviceHandle* device) { return reinterpret_cast<const char*>(device); }
EXPORT VerbsContext* ibv_open_device(VerbsDeviceHandle* device) {
  if (fails("open_device")) return nullptr;
  auto* const context = new VerbsContext;
  context->device = device;
  context->poll = poll;
  context->post_send = post_send;
  context->post_receive = post_receive;
  return made(context);
}
EXPORT int ibv_close_device(VerbsContext* context) { return gone(context); }
EXPORT int ibv_query_device(VerbsContext*, VerbsDeviceLimits* limits) {
  if (fails("query_device")) return EIO;
  *limits = {};
  limits->max_work_requests = limits->max_completions = ring_size;
  limits->max_reads_in = limits->max_reads_out = 16;
  limits->atomics = 1;
  limits->port_count = 1;
  return 0;
}
EXPORT int ibv_query_port(VerbsContext*, std::uint8_t, VerbsPort* port) {
  if (fails("query_port")) return EIO;
  *port = {};
  port->state = std::getenv("GDRKIT_STAND_IN_DOWN") != nullptr ? 1 : verbs_port_active;
  port->max_mtu = port->active_mtu = 5;
  port->gid_table_length = 2;
  port->link_layer = std::getenv("GDRKIT_STAND_IN_INFINIBAND") != nullptr ? verbs_link_infiniband : verbs_link_ethernet;
  port->lid = port->link_layer == verbs_link_infiniband ? 7 : 0;
  return 0;
}
EXPORT int ibv_query_gid(VerbsContext*, std::uint8_t, int index, VerbsGid* gid) {
  if (fails("query_gid") || index > 1) return -1;
  *gid = {};
  if (index == 0) {
    gid->bytes[0] = 0xfe;
    gid->bytes[1] = 0x80;
  } else {
    gid->bytes[10] = gid->bytes[11] = 0xff;
    gid->bytes[12] = 10;
  }
  gid->bytes[15] = 1;
  return 0;
}
EXPORT VerbsDomain* ibv_alloc_pd(VerbsContext*) { return fails("alloc_pd") ? nullptr : made(new VerbsDomain); }
EXPORT int ibv_dealloc_pd(VerbsDomain* domain) { return gone(domain); }
EXPORT VerbsRegion* ibv_reg_mr(VerbsDomain* domain, void* address, std::size_t size_bytes, int access) {
  if (fails("reg_mr")) return nullptr;
  return make_region(domain, reinterpret_cast<std::uint64_t>(address), size_bytes, access);
}
EXPORT VerbsRegion* ibv_reg_mr_iova2(VerbsDomain* domain, void* address, std::size_t size_bytes, std::uint64_t,
                                     unsigned access) {
  if (fails("reg_mr_iova2")) return nullptr;
  return make_region(domain, reinterpret_cast<std::uint64_t>(address), size_bytes, static_cast<int>(access));
}
/// The same errors as rxe.
EXPORT VerbsRegion* ibv_reg_dmabuf_mr(VerbsDomain*, std::uint64_t, std::size_t, std::uint64_t, int, int) {
  errno = EOPNOTSUPP;
  return nullptr;
}
EXPORT int ibv_dereg_mr(VerbsRegion* region) {
  {
    const Lock lock;
    room->regions[region->rkey % most_pairs] = {};
  }
  return gone(region);
}
EXPORT VerbsCompletionQueue* ibv_create_cq(VerbsContext* context, int entries, void*, VerbsChannel*, int) {
  if (fails("create_cq") || entries > ring_size) return nullptr;
  const Lock lock;
  const int slot = free_slot(room->queues);
  if (slot < 0) return nullptr;
  SharedQueue& queue = room->queues[slot];
  queue.process = ::getpid();
  queue.completions.head = queue.completions.tail = 0;
  auto* const handle = new StandInQueue;
  handle->context = context;
  handle->slot = slot;
  return made(handle);
}
EXPORT int ibv_destroy_cq(VerbsCompletionQueue* queue) {
  auto* const handle = static_cast<StandInQueue*>(queue);
  room->queues[handle->slot].process = 0;
  return gone(handle);
}
EXPORT VerbsQueuePair* ibv_create_qp(VerbsDomain* domain, VerbsPairRequest* request) {
  if (fails("create_qp")) return nullptr;
  const Lock lock;
  const int slot = free_slot(room->pairs);
  if (slot < 0) return nullptr;
  SharedPair& shared = room->pairs[slot];
  shared.process = ::getpid();
  shared.state = 0;
  shared.queue = static_cast<StandInQueue*>(request->send_queue)->slot;
  shared.receives.head = shared.receives.tail = 0;
  auto* const pair = new StandInPair;
  pair->domain = domain;
  pair->number = static_cast<std::uint32_t>(slot + most_pairs);
  pair->slot = slot;
  pair->kind = request->kind;
  pair->depth = request->limits.max_sends;
  pairs.push_back(pair);
  return made(static_cast<VerbsQueuePair*>(pair));
}
EXPORT int ibv_modify_qp(VerbsQueuePair* handle, VerbsPairState* state, int mask) {
  if (fails("modify_qp")) return EINVAL;
  auto* const pair = static_cast<StandInPair*>(handle);
  SharedPair& shared = room->pairs[pair->slot];
  if (state->state != shared.state + 1) return EINVAL;
  shared.state = state->state;
  if ((mask & verbs_set_path) != 0) write_path(state->path);
  if ((mask & verbs_set_remote_pair) != 0) pair->remote = state->remote_pair;
  return 0;
}
EXPORT int ibv_destroy_qp(VerbsQueuePair* handle) {
  auto* const pair = static_cast<StandInPair*>(handle);
  room->pairs[pair->slot].process = 0;
  std::erase(pairs, pair);
  return gone(pair);
}
EXPORT VerbsAddressHandle* ibv_create_ah(VerbsDomain*, VerbsPath* path) {
  write_path(*path);
  return fails("create_ah") ? nullptr : made(new VerbsAddressHandle);
}
EXPORT int ibv_destroy_ah(VerbsAddressHandle* handle) { return gone(handle); }
EXPORT const char* ibv_wc_status_str(int status) {
  return status == remote_access_error ? "remote access error" : "transport retry counter exceeded";
}
