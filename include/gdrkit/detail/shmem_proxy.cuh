// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Access of GPU kernels to PEs of other nodes: they write commands to a ring in host memory, and a thread of their PE,
// the proxy, executes them. Included by shmem_device.cuh. A thread allocates a position by one atomic addition. Its
// place in the ring is the position modulo proxy_places. The thread may write to the place when the proxy has taken the
// previous command of the place, and the thread of that command has read its reply. The proxy executes commands in the
// order of their positions. So commands of one thread, and of threads that synchronize, stay in order.
#ifndef GDRKIT_SHMEM_PROXY_CUH
#define GDRKIT_SHMEM_PROXY_CUH

#include <gdrkit/detail/shmem_access.cuh>

#include <cstring>

namespace gdrkit::shmem::detail {

enum class ProxyOperation : std::uint8_t {
  put,
  get,
  get_word,    ///< the reply is the word
  update,      ///< the reply, if requested, is the old value of the word
  put_signal,  ///< data, followed by a signal
  /// The same for a team's scratch memory and word. It comes after earlier commands for that PE.
  put_to_team,
  fence,
  quiet,
  barrier,  ///< quiet, then report to PEs of other nodes that this PE has reached barrier number `operand`
};

/// Event that the writer of a command waits for.
enum class ProxyWait : std::uint8_t {
  nothing,
  begun,  ///< its source may be reused
  done,   ///< the command and all earlier commands are complete
};

/// `remote` and `signal` are addresses in the caller's heap. `local` is memory that calls of the PE's CPU accept.
struct ProxyCommand {
  std::uint64_t remote;
  std::uint64_t local;  ///< or the data itself
  std::uint64_t size_bytes;
  std::uint64_t signal;  ///< or the value that an update compares with
  std::uint64_t operand;
  std::int32_t pe;
  ProxyOperation operation;
  ProxyWait wait;
  std::uint8_t update;    ///< gdrkit_shmem_atomic_operation; for a signal, gdrkit_shmem_signal
  std::uint8_t has_data;  ///< `local` contains the data
  std::uint64_t unused;
  std::uint64_t sequence;  ///< its position + 1, written last
};
static_assert(sizeof(ProxyCommand) == 64);

struct alignas(16) ProxyReply {
  std::uint64_t value;
  std::uint64_t sequence;  ///< that of the command, written last
};

inline constexpr std::uint64_t proxy_places = 1024;
inline constexpr std::int32_t not_mapped = INT32_MAX;

/// Shared state of the PE's GPU kernels, in its GPU's memory.
struct ProxyRing {
  ProxyCommand* commands;  ///< in host memory, like all data that the proxy accesses
  ProxyReply* replies;     ///< by place
  std::uint64_t* taken;    ///< number of commands that the proxy has taken
  std::uint64_t*
      has_overflown;  ///< set by a GPU kernel: a position stays empty, because the ring was full for too long
  const std::int32_t* heaps_away;  ///< by PE: distance of its heap in heaps, or not_mapped
  std::uint64_t is_broken;         ///< as *has_overflown
  std::uint64_t unused[2];
  unsigned long long head;  ///< the next position
  std::uint64_t unused_too[7];
  std::uint64_t known_taken;  ///< last value that was read from *taken
  std::uint64_t unused_at_all[7];
  std::uint64_t turns[proxy_places];  ///< by place: the position that may be written
};

GDRKIT_SHMEM_FUNCTION ProxyRing* proxy_of(const State& state) {
  return reinterpret_cast<ProxyRing*>(state.proxy_address);
}
/// Returns whether only the proxy can access that PE. Requires a proxy. Callers check that first: in a job on one
/// node the check is one comparison with 0 and one branch, and this function would add a second branch.
GDRKIT_SHMEM_FUNCTION bool is_proxied(const State& state, int pe) {
  return proxy_of(state)->heaps_away[pe] == not_mapped;
}

/// Returns the distance of a PE's heap in heaps. Requires !is_proxied. Out of line, so that a job on one node branches
/// around it. If it is inlined, the compiler makes these loads conditional, and each delays later instructions by 40
/// cycles even if it is not executed.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::int64_t heaps_between(const ProxyRing* ring, int pe) {
  return ring->heaps_away[pe];
}

/// Polls by relaxed loads, as an acquire would empty the first-level cache each time.
GDRKIT_SHMEM_FUNCTION bool proxy_has_room(ProxyRing* ring, std::uint64_t position) {
  if (load_relaxed(&ring->turns[position % proxy_places]) != position) return false;
  if (position - load_relaxed(&ring->known_taken) < proxy_places) return true;
  // Storing an older value than another thread's only causes another read.
  const std::uint64_t taken = load_relaxed(ring->taken);
  store_relaxed(&ring->known_taken, taken);
  return position - taken < proxy_places;
}

/// Writes a command, by one thread. Earlier accesses of the thread, and of threads that synchronized with it, are
/// ordered before the command. Returns the reply that `wait` waits for, or 0 if it did not arrive within the limit. Out
/// of line, because it is not a fast path.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::uint64_t send_to_proxy(ProxyRing* ring, std::uint64_t limit_ns,
                                                                        std::uint64_t control_address,
                                                                        ProxyCommand command) {
  State limits{};
  limits.limit_ns = limit_ns;
  limits.control_address = control_address;
  const auto is_broken = [=] { return load_relaxed(&ring->is_broken) != 0; };
  if (is_broken()) return 0;
  const std::uint64_t position = fetch_add(&ring->head, 1ULL);
  const std::uint64_t place = position % proxy_places;
  ProxyCommand* const entry = ring->commands + place;
  if (!wait_for(limits, entry, [=] { return proxy_has_room(ring, position) || is_broken(); })) {
    store_relaxed(&ring->is_broken, 1);
    store_relaxed(ring->has_overflown, 1);
  }
  if (is_broken()) return 0;
  (void)load_acquire(&ring->turns[place]);  // later accesses are ordered after this load
  constexpr unsigned words = sizeof(ProxyCommand) / sizeof(std::uint64_t) - 1;
  const auto* const from = reinterpret_cast<const std::uint64_t*>(&command);
  auto* const to = reinterpret_cast<std::uint64_t*>(entry);
  for (unsigned i = 0; i < words; ++i) store_relaxed(to + i, from[i]);
  fence_system();
  post(&entry->sequence, position + 1);
  std::uint64_t value = 0;
  if (command.wait != ProxyWait::nothing) {
    const ProxyReply* const reply = ring->replies + place;
    if (wait_for(limits, reply, [=] { return load_acquire(&reply->sequence) == position + 1; })) {
      value = load_relaxed(&reply->value);
    }
    fence_system();  // the reply is read before the next one may be written
  }
  post(&ring->turns[place], position + proxy_places);
  return value;
}
GDRKIT_SHMEM_FUNCTION std::uint64_t send_to_proxy(const State& state, const ProxyCommand& command) {
  return send_to_proxy(proxy_of(state), state.limit_ns, state.control_address, command);
}

GDRKIT_SHMEM_FUNCTION ProxyCommand proxy_command(ProxyOperation operation, ProxyWait wait, int pe, const void* remote,
                                                 const void* local, std::size_t size_bytes) {
  ProxyCommand command{};
  command.operation = operation;
  command.wait = wait;
  command.pe = pe;
  command.remote = reinterpret_cast<std::uint64_t>(remote);
  command.local = reinterpret_cast<std::uint64_t>(local);
  command.size_bytes = size_bytes;
  return command;
}

/// Converts a value of at most 8 bytes to a word.
template <class T>
GDRKIT_SHMEM_FUNCTION std::uint64_t word_of(const T& value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t), "a value of at most 8 bytes");
  std::uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}
template <class T>
GDRKIT_SHMEM_FUNCTION T value_of(std::uint64_t word) {
  T value;
  memcpy(&value, &word, sizeof value);
  return value;
}

template <class T>
GDRKIT_SHMEM_FUNCTION void put_value_by_proxy(const State& state, T* target, const T& value, int pe) {
  ProxyCommand command = proxy_command(ProxyOperation::put, ProxyWait::nothing, pe, target, nullptr, sizeof value);
  command.local = word_of(value);
  command.has_data = 1;
  (void)send_to_proxy(state, command);
}
template <class T>
GDRKIT_SHMEM_FUNCTION T get_value_by_proxy(const State& state, const T* source, int pe) {
  return value_of<T>(
      send_to_proxy(state, proxy_command(ProxyOperation::get_word, ProxyWait::done, pe, source, nullptr, sizeof(T))));
}
template <class Word>
GDRKIT_SHMEM_FUNCTION Word update_by_proxy(const State& state, Word* target, gdrkit_shmem_atomic_operation operation,
                                           Word value, Word compare, int pe, ProxyWait wait) {
  ProxyCommand command = proxy_command(ProxyOperation::update, wait, pe, target, nullptr, sizeof(Word));
  command.update = static_cast<std::uint8_t>(operation);
  command.operand = word_of(value);
  command.signal = word_of(compare);
  return value_of<Word>(send_to_proxy(state, command));
}

/// Up to 8 bytes of data are copied into the command, so the caller need not wait.
GDRKIT_SHMEM_FUNCTION void take_small_data(ProxyCommand* command, const void* source) {
  if (command->size_bytes > sizeof command->local) return;
  command->local = 0;
  command->has_data = 1;
  command->wait = ProxyWait::nothing;
  for (unsigned i = 0; i < command->size_bytes; ++i) {
    command->local |= std::uint64_t{static_cast<const unsigned char*>(source)[i]} << (8 * i);
  }
}
/// put and put_nbi, followed by a signal if `signal` is not nullptr.
template <class Group>
GDRKIT_SHMEM_FUNCTION void put_by_proxy(const State& state, void* target, const void* source, std::size_t size_bytes,
                                        int pe, std::uint64_t* signal, std::uint64_t value,
                                        gdrkit_shmem_signal operation, ProxyWait wait, Group group) {
  group.sync();
  if (group.rank() == 0) {
    const bool is_signal = signal != nullptr;
    ProxyCommand command = proxy_command(is_signal ? ProxyOperation::put_signal : ProxyOperation::put, wait, pe, target,
                                         source, size_bytes);
    command.signal = reinterpret_cast<std::uint64_t>(signal);
    command.operand = value;
    command.update = static_cast<std::uint8_t>(operation);
    take_small_data(&command, source);
    (void)send_to_proxy(state, command);
  }
  if (wait != ProxyWait::nothing) group.sync();
}
/// Called by one thread. `word` is set to `value` after the data.
GDRKIT_SHMEM_FUNCTION void put_to_team_by_proxy(const State& state, void* target, const void* source,
                                                std::size_t size_bytes, int pe, std::uint64_t* word,
                                                std::uint64_t value) {
  ProxyCommand command = proxy_command(ProxyOperation::put_to_team, ProxyWait::begun, pe, target, source, size_bytes);
  command.signal = reinterpret_cast<std::uint64_t>(word);
  command.operand = value;
  take_small_data(&command, source);
  (void)send_to_proxy(state, command);
}
template <class Group>
GDRKIT_SHMEM_FUNCTION void get_by_proxy(const State& state, void* target, const void* source, std::size_t size_bytes,
                                        int pe, Group group) {
  group.sync();
  if (group.rank() == 0) {
    (void)send_to_proxy(state, proxy_command(ProxyOperation::get, ProxyWait::done, pe, source, target, size_bytes));
  }
  group.sync();
}

GDRKIT_SHMEM_FUNCTION void fence_by_proxy(const State& state) {
  (void)send_to_proxy(state, proxy_command(ProxyOperation::fence, ProxyWait::nothing, 0, nullptr, nullptr, 0));
}
GDRKIT_SHMEM_FUNCTION void quiet_by_proxy(const State& state) {
  (void)send_to_proxy(state, proxy_command(ProxyOperation::quiet, ProxyWait::done, 0, nullptr, nullptr, 0));
}
GDRKIT_SHMEM_FUNCTION void arrive_by_proxy(const State& state, std::uint64_t round) {
  ProxyCommand command = proxy_command(ProxyOperation::barrier, ProxyWait::begun, 0, nullptr, nullptr, 0);
  command.operand = round;
  (void)send_to_proxy(state, command);
}

}  // namespace gdrkit::shmem::detail

#endif
