// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How GPU kernels reach PEs that their GPU does not, on other machines: they write commands into a ring in host memory,
// and a thread of their PE, the proxy, carries them out. Included by shmem_device.cuh.
//
// A position of the ring is taken by one atomic addition. Its place may be written once the proxy has taken the command
// that was there before, and the thread that wrote that one has read its answer. The proxy takes commands in the order
// of their positions, so those of one thread, and of threads with barriers between them, stay in order.
#ifndef GDRKIT_SHMEM_PROXY_CUH
#define GDRKIT_SHMEM_PROXY_CUH

#include <gdrkit/detail/shmem_access.cuh>

#include <cstring>

namespace gdrkit::shmem::detail {

enum class ProxyOperation : std::uint8_t {
  put,
  get,
  get_word,    ///< the answer is the word
  update,      ///< the answer, where one is wanted, is what the word held before
  put_signal,  ///< data, and a signal behind it
  fence,
  quiet,
  barrier,  ///< quiet, then PEs on other machines are told that this PE has come to barrier number `operand`
};

/// What the writer of a command waits for.
enum class ProxyWait : std::uint8_t {
  nothing,
  begun,  ///< its source may be written again
  done,   ///< it is complete, with all commands before it
};

/// Addresses are of the caller's own heap for `remote` and `signal`, and of memory that the PE's CPU calls take for
/// `local`.
struct ProxyCommand {
  std::uint64_t remote;
  std::uint64_t local;  ///< or the data itself
  std::uint64_t size_bytes;
  std::uint64_t signal;  ///< or what an update compares with
  std::uint64_t operand;
  std::int32_t pe;
  ProxyOperation operation;
  ProxyWait wait;
  std::uint8_t update;    ///< gdrkit_shmem_atomic_operation, or of a signal gdrkit_shmem_signal
  std::uint8_t has_data;  ///< `local` is no address
  std::uint64_t unused;
  std::uint64_t sequence;  ///< its position + 1, written last
};
static_assert(sizeof(ProxyCommand) == 64);

struct alignas(16) ProxyAnswer {
  std::uint64_t value;
  std::uint64_t sequence;  ///< that of the command, written last
};

inline constexpr std::uint64_t proxy_places = 1024;
inline constexpr std::int32_t beyond_reach = INT32_MAX;

/// What the PE's GPU kernels share, in its GPU's memory.
struct ProxyRing {
  ProxyCommand* commands;          ///< in host memory, as all that the proxy reads or writes
  ProxyAnswer* answers;            ///< by place
  std::uint64_t* taken;            ///< how many commands the proxy has taken
  std::uint64_t* has_overflown;    ///< a GPU kernel: a position stays empty, as there was no room for too long
  const std::int32_t* heaps_away;  ///< by PE: how many heaps further its heap is, or beyond_reach
  std::uint64_t is_broken;         ///< as *has_overflown
  std::uint64_t unused[2];
  unsigned long long head;  ///< the next position
  std::uint64_t unused_too[7];
  std::uint64_t known_taken;  ///< what *taken was at the last look
  std::uint64_t unused_at_all[7];
  std::uint64_t turns[proxy_places];  ///< by place: which position may be written
};

GDRKIT_SHMEM_FUNCTION ProxyRing* proxy_of(const State& state) {
  return reinterpret_cast<ProxyRing*>(state.proxy_address);
}
/// Whether only the proxy reaches that PE. Callers ask whether there is a proxy before: of a job on one machine this is
/// a comparison with 0, and a branch that a function's answer would cost a second time.
GDRKIT_SHMEM_FUNCTION bool is_beyond(const State& state, int pe) {
  return proxy_of(state)->heaps_away[pe] == beyond_reach;
}

/// Of a PE that is not beyond. Out of line, so that a job on one machine branches around it: the compiler would turn
/// these loads into some that happen on a condition, and each of them delays what follows by 40 cycles also where it
/// does not.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::int64_t heaps_between(const ProxyRing* ring, int pe) {
  return ring->heaps_away[pe];
}

/// Polls by relaxed loads, as an acquire would empty the first-level cache each time.
GDRKIT_SHMEM_FUNCTION bool proxy_has_room(ProxyRing* ring, std::uint64_t position) {
  if (load_relaxed(&ring->turns[position % proxy_places]) != position) return false;
  if (position - load_relaxed(&ring->known_taken) < proxy_places) return true;
  // One that is older than another thread's only costs it another look.
  const std::uint64_t taken = load_relaxed(ring->taken);
  store_relaxed(&ring->known_taken, taken);
  return position - taken < proxy_places;
}

/// By one thread: what it did before, and what it has seen done by threads of its group before a barrier, comes before
/// the command. Answers what `wait` waits for, 0 when that did not come within the limit. Out of line: it is nobody's
/// fast way.
GDRKIT_SHMEM_OUTLINED GDRKIT_SHMEM_FUNCTION std::uint64_t give_proxy(ProxyRing* ring, std::uint64_t limit_ns,
                                                                     std::uint64_t control_address,
                                                                     ProxyCommand command) {
  State limits{};
  limits.limit_ns = limit_ns;
  limits.control_address = control_address;
  const auto is_broken = [=] { return load_relaxed(&ring->is_broken) != 0; };
  if (is_broken()) return 0;
  const std::uint64_t position = fetch_add(&ring->head, 1ULL);
  const std::uint64_t place = position % proxy_places;
  ProxyCommand* const slot = ring->commands + place;
  if (!wait_for(limits, slot, [=] { return proxy_has_room(ring, position) || is_broken(); })) {
    store_relaxed(&ring->is_broken, 1);
    store_relaxed(ring->has_overflown, 1);
  }
  if (is_broken()) return 0;
  (void)load_acquire(&ring->turns[place]);  // what is read and written from here on comes after
  constexpr unsigned words = sizeof(ProxyCommand) / sizeof(std::uint64_t) - 1;
  const auto* const from = reinterpret_cast<const std::uint64_t*>(&command);
  auto* const to = reinterpret_cast<std::uint64_t*>(slot);
  for (unsigned i = 0; i < words; ++i) store_relaxed(to + i, from[i]);
  fence_system();
  post(&slot->sequence, position + 1);
  std::uint64_t value = 0;
  if (command.wait != ProxyWait::nothing) {
    const ProxyAnswer* const answer = ring->answers + place;
    if (wait_for(limits, answer, [=] { return load_acquire(&answer->sequence) == position + 1; })) {
      value = load_relaxed(&answer->value);
    }
    fence_system();  // the answer was read before the next one may be written
  }
  post(&ring->turns[place], position + proxy_places);
  return value;
}
GDRKIT_SHMEM_FUNCTION std::uint64_t give_proxy(const State& state, const ProxyCommand& command) {
  return give_proxy(proxy_of(state), state.limit_ns, state.control_address, command);
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

/// A value's bytes in a word, and the other way round.
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
  (void)give_proxy(state, command);
}
template <class T>
GDRKIT_SHMEM_FUNCTION T get_value_by_proxy(const State& state, const T* source, int pe) {
  return value_of<T>(
      give_proxy(state, proxy_command(ProxyOperation::get_word, ProxyWait::done, pe, source, nullptr, sizeof(T))));
}
template <class Word>
GDRKIT_SHMEM_FUNCTION Word update_by_proxy(const State& state, Word* target, gdrkit_shmem_atomic_operation operation,
                                           Word value, Word compare, int pe, ProxyWait wait) {
  ProxyCommand command = proxy_command(ProxyOperation::update, wait, pe, target, nullptr, sizeof(Word));
  command.update = static_cast<std::uint8_t>(operation);
  command.operand = word_of(value);
  command.signal = word_of(compare);
  return value_of<Word>(give_proxy(state, command));
}

/// put and put_nbi, with a signal behind the data where `signal` is not nullptr. Few bytes travel in the command.
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
    if (size_bytes <= sizeof command.local) {
      command.local = 0;
      command.has_data = 1;
      command.wait = ProxyWait::nothing;
      for (unsigned i = 0; i < size_bytes; ++i) {
        command.local |= std::uint64_t{static_cast<const unsigned char*>(source)[i]} << (8 * i);
      }
    }
    (void)give_proxy(state, command);
  }
  if (wait != ProxyWait::nothing) group.sync();
}
template <class Group>
GDRKIT_SHMEM_FUNCTION void get_by_proxy(const State& state, void* target, const void* source, std::size_t size_bytes,
                                        int pe, Group group) {
  group.sync();
  if (group.rank() == 0) {
    (void)give_proxy(state, proxy_command(ProxyOperation::get, ProxyWait::done, pe, source, target, size_bytes));
  }
  group.sync();
}

GDRKIT_SHMEM_FUNCTION void fence_by_proxy(const State& state) {
  (void)give_proxy(state, proxy_command(ProxyOperation::fence, ProxyWait::nothing, 0, nullptr, nullptr, 0));
}
GDRKIT_SHMEM_FUNCTION void quiet_by_proxy(const State& state) {
  (void)give_proxy(state, proxy_command(ProxyOperation::quiet, ProxyWait::done, 0, nullptr, nullptr, 0));
}
GDRKIT_SHMEM_FUNCTION void arrive_by_proxy(const State& state, std::uint64_t round) {
  ProxyCommand command = proxy_command(ProxyOperation::barrier, ProxyWait::begun, 0, nullptr, nullptr, 0);
  command.operand = round;
  (void)give_proxy(state, command);
}

}  // namespace gdrkit::shmem::detail

#endif
