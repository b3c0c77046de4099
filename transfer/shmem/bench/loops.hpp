// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Loops: the code that bench times, for each case of the CPU, shared by all libraries. Each loop runs the operation
// `count` times as a caller would, and returns 0, or a negative value if any call failed.
//
// `Library` has the operations as members that return 0 or a negative errno; -EOPNOTSUPP for operations that it lacks.
#pragma once

#include <cstddef>

#include "measure/harness/direction.hpp"
#include "transfer/shmem/bench/station.hpp"

namespace gdrkit::transfer::shmem {

template <class Once>
int repeat(std::size_t count, Once&& once) {
  // All negative values keep their sign under |.
  int code = 0;
  for (std::size_t number = 0; number < count; ++number) code |= once(number);
  return code;
}

template <class Library>
using Loop = int (*)(const Library& library, Station& station, std::size_t count);

template <class Library>
struct Loops {
  // `local`: the local side of the transfer.
  template <std::uint8_t* Station::*local>
  static int put(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.put(s.object, s.*local, s.size_bytes, s.peer); });
  }
  template <std::uint8_t* Station::*local>
  static int put_then_quiet(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.put(s.object, s.*local, s.size_bytes, s.peer) | l.quiet(); });
  }
  template <std::uint8_t* Station::*local>
  static int get(const Library& l, Station& s, std::size_t count) {
    const measure::Rotation rotation{measure::Direction::from_device, s.size_bytes};
    return repeat(count,
                  [&](std::size_t n) { return l.get(s.*local, s.object + rotation.offset(n), s.size_bytes, s.peer); });
  }
  static constexpr Loop<Library> put_host = &put<&Station::host>;
  static constexpr Loop<Library> put_host_quiet = &put_then_quiet<&Station::host>;
  static constexpr Loop<Library> put_mapped = &put<&Station::mapped>;
  static constexpr Loop<Library> put_registered = &put<&Station::registered>;
  static constexpr Loop<Library> put_registered_quiet = &put_then_quiet<&Station::registered>;
  static constexpr Loop<Library> put_symmetric = &put<&Station::symmetric>;
  static constexpr Loop<Library> put_symmetric_quiet = &put_then_quiet<&Station::symmetric>;
  static constexpr Loop<Library> get_host = &get<&Station::host>;
  static constexpr Loop<Library> get_symmetric = &get<&Station::symmetric>;
  static constexpr Loop<Library> put_host_bandwidth = put_host_quiet;
  static constexpr Loop<Library> put_pinned_bandwidth = &put_then_quiet<&Station::pinned>;
  static constexpr Loop<Library> put_symmetric_bandwidth = put_symmetric_quiet;
  static constexpr Loop<Library> get_host_bandwidth = get_host;
  static constexpr Loop<Library> get_pinned_bandwidth = &get<&Station::pinned>;
  static constexpr Loop<Library> get_symmetric_bandwidth = get_symmetric;

  static int p(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.p(s.word, n, s.peer); });
  }
  static int p_quiet(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.p(s.word, n, s.peer) | l.quiet(); });
  }
  static int g(const Library& l, Station& s, std::size_t count) {
    const measure::Rotation rotation(measure::Direction::from_device, sizeof(std::uint64_t));
    return repeat(count, [&](std::size_t n) {
      std::uint64_t value = 0;
      return l.g(reinterpret_cast<const std::uint64_t*>(s.object + rotation.offset(n)), &value, s.peer);
    });
  }
  static int put_signal(const Library& l, Station& s, std::size_t count) {
    return repeat(count,
                  [&](std::size_t n) { return l.put_signal(s.object, s.host, s.size_bytes, s.signal + 1, n, s.peer); });
  }
  static int signal_op(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.signal_set(s.signal + 1, n, s.peer); });
  }
  /// PE 0 sends, the next PE replies; the others do nothing. A turn is a round trip.
  static int ping_pong(const Library& l, Station& s, std::size_t count) {
    if (s.pe > 1) return 0;
    const int other = 1 - s.pe;
    return repeat(count, [&](std::size_t) {
      ++s.turn;
      return s.pe == 1 ? l.wait_then_send(s.object, s.host, s.size_bytes, s.signal, s.turn, other)
                       : l.send_then_wait(s.object, s.host, s.size_bytes, s.signal, s.turn, other);
    });
  }
  static int barrier_all(const Library& l, Station&, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.barrier_all(); });
  }
  static int sync_all(const Library& l, Station&, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.sync_all(); });
  }
  static int atomic_fetch(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.atomic_fetch(s.word, s.peer); });
  }
  static int atomic_set_quiet(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.atomic_set(s.word, n, s.peer) | l.quiet(); });
  }
  static int atomic_add_quiet(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.atomic_add(s.word, 1, s.peer) | l.quiet(); });
  }
  static int atomic_fetch_add(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return l.atomic_fetch_add(s.word, 1, s.peer); });
  }
  static int atomic_swap(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.atomic_swap(s.word, n, s.peer); });
  }
  static int atomic_compare_swap(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t n) { return l.atomic_compare_swap(s.word, n, n + 1, s.peer); });
  }

  // On the station's stream. The CPU waits for the stream after each operation, or, of queued ones, after the last.
  template <class Once>
  static int each_synchronized(const Library& l, const Station& s, std::size_t count, Once&& once) {
    return repeat(count, [&](std::size_t n) { return once(n) | l.synchronize(s.stream); });
  }
  static int stream_p(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t n) { return l.p_on_stream(s.word, n, s.peer, s.stream); });
  }
  static int stream_put(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t) { return put_in_stream(l, s); });
  }
  static int stream_put_quiet(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count,
                             [&](std::size_t) { return put_in_stream(l, s) | l.quiet_on_stream(s.stream); });
  }
  static int stream_put_queued(const Library& l, Station& s, std::size_t count) {
    return repeat(count, [&](std::size_t) { return put_in_stream(l, s); }) | l.synchronize(s.stream);
  }
  static int stream_get(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t) {
      return l.get_on_stream(s.symmetric, s.object, s.size_bytes, s.peer, s.stream);
    });
  }
  static int stream_put_signal(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t n) { return send_in_stream(l, s, s.signal + 1, n, s.peer); });
  }
  static int stream_ping_pong(const Library& l, Station& s, std::size_t count) {
    if (s.pe > 1) return 0;
    return each_synchronized(l, s, count, [&](std::size_t) {
      std::uint64_t* const signal = s.signal + 2;
      const std::uint64_t turn = ++s.stream_turn;
      if (s.pe == 0) return send_in_stream(l, s, signal, turn, 1) | l.wait_on_stream(signal, turn, s.stream);
      return l.wait_on_stream(signal, turn, s.stream) | send_in_stream(l, s, signal, turn, 0);
    });
  }
  static constexpr Loop<Library> stream_put_bandwidth = &stream_put;
  static constexpr Loop<Library> stream_get_bandwidth = &stream_get;
  static int stream_barrier_all(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t) { return l.barrier_all_on_stream(s.stream); });
  }
  static int stream_sync_all(const Library& l, Station& s, std::size_t count) {
    return each_synchronized(l, s, count, [&](std::size_t) { return l.sync_all_on_stream(s.stream); });
  }

#define GDRKIT_SHMEM_COLLECTIVE_LOOPS(name)                                                              \
  static int name(const Library& l, Station& s, std::size_t count) {                                     \
    return repeat(count, [&](std::size_t) { return l.name(s.object, s.symmetric, s.size_bytes); });      \
  }                                                                                                      \
  static int name##_in_stream(const Library& l, const Station& s) {                                      \
    return l.name##_on_stream(s.object, s.symmetric, s.size_bytes, s.stream);                            \
  }                                                                                                      \
  static int stream_##name(const Library& l, Station& s, std::size_t count) {                            \
    return each_synchronized(l, s, count, [&](std::size_t) { return name##_in_stream(l, s); });          \
  }                                                                                                      \
  static int stream_##name##_queued(const Library& l, Station& s, std::size_t count) {                   \
    return repeat(count, [&](std::size_t) { return name##_in_stream(l, s); }) | l.synchronize(s.stream); \
  }
  GDRKIT_SHMEM_COLLECTIVE_LOOPS(broadcast)
  GDRKIT_SHMEM_COLLECTIVE_LOOPS(fcollect)
  GDRKIT_SHMEM_COLLECTIVE_LOOPS(alltoall)
  GDRKIT_SHMEM_COLLECTIVE_LOOPS(reduce)
  GDRKIT_SHMEM_COLLECTIVE_LOOPS(reducescatter)
#undef GDRKIT_SHMEM_COLLECTIVE_LOOPS

  static int put_in_stream(const Library& l, const Station& s) {
    return l.put_on_stream(s.object, s.symmetric, s.size_bytes, s.peer, s.stream);
  }
  static int send_in_stream(const Library& l, const Station& s, std::uint64_t* signal, std::uint64_t value, int pe) {
    return l.put_signal_on_stream(s.object, s.symmetric, s.size_bytes, signal, value, pe, s.stream);
  }
};

/// By the number of the case; nullptr for a case of GPU kernels.
template <class Library>
[[nodiscard]] Loop<Library> loop_of(std::size_t number) {
  static constexpr Loop<Library> all[] = {
#define GDRKIT_SHMEM_CASE(name, operation, memory, completion, who, sizes) Loops<Library>::name,
#define GDRKIT_SHMEM_STREAM_CASE(name, operation, memory, completion, who, sizes) Loops<Library>::stream_##name,
#define GDRKIT_SHMEM_DEVICE_CASE(name, operation, work, scope, groups, completion, who, sizes) nullptr,
#include "transfer/shmem/bench/cases.def"
  };
  return all[number];
}

}  // namespace gdrkit::transfer::shmem
