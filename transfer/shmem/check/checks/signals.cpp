// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Each PE sends to the next one and receives from the previous one, in lockstep: the receiver checks the data as soon
// as it observes the signal, and acknowledges.
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

struct Message {
  void* target;
  const void* source;
  std::size_t size_bytes;
  std::uint64_t* signal;
  std::uint64_t number;  ///< counts the messages of this way, from 1
  int pe;
};

int fence_then_signal(const Message& m, int put) {
  if (put < 0) return put;
  if (const int fenced = gdrkit_shmem_fence(); fenced < 0) return fenced;
  return gdrkit_shmem_signal_op(m.signal, m.number, GDRKIT_SHMEM_SIGNAL_SET, m.pe);
}

/// A way to send data and a word, so that a PE that observes the word also observes the data. To add one, add a row.
struct Way {
  const char* name;
  int (*send)(const Message& message);
};
constexpr Way ways[] = {
    {"put_signal SET",
     [](const Message& m) {
       return gdrkit_shmem_put_signal(m.target, m.source, m.size_bytes, m.signal, m.number, GDRKIT_SHMEM_SIGNAL_SET,
                                      m.pe);
     }},
    {"put_signal ADD",
     [](const Message& m) {
       return gdrkit_shmem_put_signal(m.target, m.source, m.size_bytes, m.signal, 1, GDRKIT_SHMEM_SIGNAL_ADD, m.pe);
     }},
    {"put_signal_nbi SET",
     [](const Message& m) {
       return gdrkit_shmem_put_signal_nbi(m.target, m.source, m.size_bytes, m.signal, m.number, GDRKIT_SHMEM_SIGNAL_SET,
                                          m.pe);
     }},
    {"put, fence, signal_op",
     [](const Message& m) { return fence_then_signal(m, gdrkit_shmem_put(m.target, m.source, m.size_bytes, m.pe)); }},
    {"put_nbi, fence, signal_op",
     [](const Message& m) {
       return fence_then_signal(m, gdrkit_shmem_put_nbi(m.target, m.source, m.size_bytes, m.pe));
     }},
    {"put, fence, p",
     [](const Message& m) {
       if (const int put = gdrkit_shmem_put(m.target, m.source, m.size_bytes, m.pe); put < 0) return put;
       if (const int fenced = gdrkit_shmem_fence(); fenced < 0) return fenced;
       return gdrkit_shmem_uint64_p(m.signal, m.number, m.pe);
     }},
    {"put_nbi, quiet, signal_op ADD",
     [](const Message& m) {
       if (const int put = gdrkit_shmem_put_nbi(m.target, m.source, m.size_bytes, m.pe); put < 0) return put;
       if (const int done = gdrkit_shmem_quiet(); done < 0) return done;
       return gdrkit_shmem_signal_op(m.signal, 1, GDRKIT_SHMEM_SIGNAL_ADD, m.pe);
     }},
    {"put_signal_on_stream SET",
     [](const Message& m) {
       return gdrkit_shmem_put_signal_on_stream(m.target, m.source, m.size_bytes, m.signal, m.number,
                                                GDRKIT_SHMEM_SIGNAL_SET, m.pe, nullptr);
     }},
    {"put_on_stream, signal_op_on_stream ADD",
     [](const Message& m) {
       if (const int put = gdrkit_shmem_put_on_stream(m.target, m.source, m.size_bytes, m.pe, nullptr); put < 0) {
         return put;
       }
       return gdrkit_shmem_signal_op_on_stream(m.signal, 1, GDRKIT_SHMEM_SIGNAL_ADD, m.pe, nullptr);
     }},
    {"put_on_stream, put_value_on_stream",
     [](const Message& m) {
       if (const int put = gdrkit_shmem_put_on_stream(m.target, m.source, m.size_bytes, m.pe, nullptr); put < 0) {
         return put;
       }
       return gdrkit_shmem_uint64_p_on_stream(m.signal, m.number, m.pe, nullptr);
     }},
};

/// Both sides of the limits between transports.
constexpr std::size_t sizes[] = {8, 64, 1000, 4096, 8, 20000, 8, 40000, 131072};
constexpr std::size_t largest = 131072;

class Lockstep {
 public:
  explicit Lockstep(Checker& checker)
      : checker_(checker),
        data_(checker, largest),
        source_(checker, largest),
        words_(checker, (std::size(ways) + 1) * sizeof(std::uint64_t)),
        next_(checker.neighbour(1)),
        previous_(checker.neighbour(-1)) {
    checker.fill(words_.data(), 0, (std::size(ways) + 1) * sizeof(std::uint64_t));
    checker.barrier();
  }

  /// Returns false if the PEs are no longer in the same round.
  bool exchange(std::uint64_t round) {
    const std::size_t way = round % std::size(ways);
    const std::size_t size = sizes[round % std::size(sizes)];
    const std::string what =
        cli::format("%s, %zu bytes, round %llu", ways[way].name, size, static_cast<unsigned long long>(round));
    const std::vector<std::uint8_t> sent = pattern(size, seed_of(checker_.pe(), round));
    const bool is_symmetric = round % 3 == 1;
    if (is_symmetric) checker_.write(source_.data(), sent.data(), size);
    const Message message{
        data_.data(), is_symmetric ? source_.data() : sent.data(), size, word(way), round / std::size(ways) + 1, next_};
    if (!checker_.succeeds(ways[way].send(message), what + cli::format(" to PE %d", next_))) return false;
    std::uint64_t seen = 0;
    if (!checker_.succeeds(
            gdrkit_shmem_signal_wait_until(word(way), GDRKIT_SHMEM_GE, round / std::size(ways) + 1, &seen),
            what + cli::format(": waiting for PE %d", previous_))) {
      return false;
    }
    std::vector<std::uint8_t> got(size);
    checker_.read(got.data(), data_.data(), size);
    checker_.compare(&got, pattern(size, seed_of(previous_, round)), what + cli::format(" by PE %d", previous_));
    return acknowledge(round, what);
  }

 private:
  static std::uint64_t seed_of(int pe, std::uint64_t round) { return (static_cast<std::uint64_t>(pe) << 40) + round; }
  [[nodiscard]] std::uint64_t* word(std::size_t way) const { return words_.as<std::uint64_t>() + way; }

  bool acknowledge(std::uint64_t round, const std::string& what) {
    std::uint64_t* const acknowledged = word(std::size(ways));
    // Sources of non-blocking puts may be written again after this alone.
    return checker_.succeeds(gdrkit_shmem_quiet(), "quiet") &&
           checker_.succeeds(gdrkit_shmem_stream_synchronize(nullptr), "stream_synchronize") &&
           checker_.succeeds(gdrkit_shmem_signal_op(acknowledged, round + 1, GDRKIT_SHMEM_SIGNAL_SET, previous_),
                             what + cli::format(": acknowledging to PE %d", previous_)) &&
           checker_.succeeds(gdrkit_shmem_signal_wait_until(acknowledged, GDRKIT_SHMEM_GE, round + 1, nullptr),
                             what + cli::format(": waiting for the acknowledgement of PE %d", next_));
  }

  Checker& checker_;
  SymmetricMemory data_;
  SymmetricMemory source_;
  SymmetricMemory words_;
  int next_;
  int previous_;
};

}  // namespace

void check_signals(Checker& checker) {
  Lockstep lockstep(checker);
  for (int round = 0; round < checker.options().rounds; ++round) {
    if (!lockstep.exchange(static_cast<std::uint64_t>(round))) break;
  }
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
