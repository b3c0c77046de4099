// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

struct Kind {
  const char* name;
  gdrkit_shmem_word word;
  std::size_t size_bytes;
};
constexpr Kind kinds[] = {{"uint32", GDRKIT_SHMEM_UINT32, 4},
                          {"uint64", GDRKIT_SHMEM_UINT64, 8},
                          {"int32", GDRKIT_SHMEM_INT32, 4},
                          {"int64", GDRKIT_SHMEM_INT64, 8}};

/// Words that the PE before this one writes while this one waits.
void check_wakeups(Checker& checker, const SymmetricMemory& memory) {
  const int next = checker.neighbour(1);
  for (std::size_t number = 0; number < std::size(kinds); ++number) {
    const Kind& kind = kinds[number];
    std::uint8_t* const word = memory.data() + number * sizeof(std::uint64_t);
    checker.fill(word, 0, sizeof(std::uint64_t));
    checker.barrier();
    const std::int64_t value = -7;  // without a sign a large number
    const gdrkit_shmem_comparison comparison = kind.word < 0 ? GDRKIT_SHMEM_LT : GDRKIT_SHMEM_GT;
    (void)checker.succeeds(gdrkit_shmem_put(word, &value, kind.size_bytes, next), cli::format("put to PE %d", next));
    (void)checker.succeeds(gdrkit_shmem_wait_until(word, kind.word, comparison, 0),
                           cli::format("wait_until of %s with -7", kind.name));
    const int tested = gdrkit_shmem_test(word, kind.word, GDRKIT_SHMEM_EQ, static_cast<std::uint64_t>(value));
    checker.demand(tested == 1, cli::format("test of %s EQ -7 returned %d", kind.name, tested));
    checker.barrier();
  }
}

/// Many words, each put by this PE to the next one; every second one is skipped.
void check_many(Checker& checker) {
  constexpr std::size_t count = 8;
  const SymmetricMemory words(checker, count * sizeof(std::uint64_t));
  const int next = checker.neighbour(1);
  for (const Kind& kind : kinds) {
    checker.fill(words.data(), 0, count * sizeof(std::uint64_t));
    checker.barrier();
    std::uint64_t values[count];
    int skip[count];
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = 100 + i;
      skip[i] = static_cast<int>(i % 2);
    }
    const gdrkit_shmem_words condition{words.data(), count, kind.word, GDRKIT_SHMEM_EQ, values, count, skip};
    checker.demand(gdrkit_shmem_test_all(&condition) == 0,
                   cli::format("test_all of %s before anything was put", kind.name));
    checker.barrier();
    for (std::size_t i = 0; i < count; i += 2) {
      (void)checker.succeeds(gdrkit_shmem_put(words.data() + i * kind.size_bytes, &values[i], kind.size_bytes, next),
                             "put");
    }
    std::size_t indices[count] = {};
    std::size_t found = 0;
    (void)checker.succeeds(gdrkit_shmem_wait_until_some(&condition, indices, &found), "wait_until_some");
    checker.demand(found >= 1 && indices[0] % 2 == 0,
                   cli::format("wait_until_some of %s found %zu words", kind.name, found));
    (void)checker.succeeds(gdrkit_shmem_wait_until_all(&condition), "wait_until_all");
    (void)checker.succeeds(gdrkit_shmem_wait_until_any(&condition, &found), "wait_until_any");
    checker.demand(found < count && found % 2 == 0,
                   cli::format("wait_until_any of %s found word %zu, which was not put", kind.name, found));
    checker.demand(gdrkit_shmem_test_all(&condition) == 1,
                   cli::format("test_all of %s after wait_until_all", kind.name));
    checker.demand(gdrkit_shmem_test_some(&condition, indices, &found) == 0 && found == 4 && indices[3] == 6,
                   cli::format("test_some of %s does not find the 4 words that were put", kind.name));
    checker.barrier();
  }
}

constexpr std::size_t sizes[] = {8, 1000, 4096, 65536, 262144};
constexpr std::size_t largest = 262144;

class Ring {
 public:
  explicit Ring(Checker& checker) : checker_(checker), data_(checker, largest), words_(checker, word_bytes) {
    checker.fill(words_.data(), 0, word_bytes);
    checker.fill(data_.data(), 0, largest);
    checker.barrier();
    (void)checker.succeeds(gdrkit_shmem_stream_create(&stream_), "stream_create");
  }
  ~Ring() { (void)checker_.succeeds(gdrkit_shmem_stream_destroy(stream_), "stream_destroy"); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// PE 0's data passes all PEs and returns, without any CPU in between.
  void send_round(std::size_t size, std::uint64_t round) {
    const std::string what = cli::format("ring of %zu bytes, round %llu", size, static_cast<unsigned long long>(round));
    std::uint64_t* const arrived = words_.as<std::uint64_t>();
    const bool leads = checker_.pe() == 0;
    const std::vector<std::uint8_t> sent = pattern(size, round);
    const auto send = [&](const void* source) {
      (void)checker_.succeeds(
          gdrkit_shmem_put_signal_on_stream(data_.data(), source, size, arrived, round, GDRKIT_SHMEM_SIGNAL_SET,
                                            checker_.neighbour(1), stream_),
          what + ": put_signal_on_stream");
    };
    const auto wait = [&] {
      (void)checker_.succeeds(gdrkit_shmem_signal_wait_until_on_stream(arrived, GDRKIT_SHMEM_EQ, round, stream_),
                              what + ": signal_wait_until_on_stream");
    };
    if (leads) send(sent.data());
    wait();
    if (!leads) send(data_.data());
    (void)checker_.succeeds(gdrkit_shmem_quiet_on_stream(stream_), what + ": quiet_on_stream");
    std::vector<std::uint8_t> got(size);
    (void)checker_.succeeds(gdrkit_shmem_get_on_stream(got.data(), data_.data(), size, checker_.pe(), stream_),
                            what + ": get_on_stream");
    (void)checker_.succeeds(gdrkit_shmem_stream_synchronize(stream_), what + ": stream_synchronize");
    checker_.compare(&got, sent, what);
    checker_.barrier();
  }

 private:
  static constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  Checker& checker_;
  SymmetricMemory data_;
  SymmetricMemory words_;
  void* stream_ = nullptr;
};

}  // namespace

void check_waiting(Checker& checker) {
  const SymmetricMemory memory(checker, std::size(kinds) * sizeof(std::uint64_t));
  check_wakeups(checker, memory);
  check_many(checker);
}

/// Every PE writes the number of the round to its place at every PE. After the barrier all places must have this
/// number, and none the next one.
void check_barriers(Checker& checker) {
  const auto pes = static_cast<std::size_t>(checker.n_pes());
  const SymmetricMemory memory(checker, pes * sizeof(std::uint64_t));
  checker.fill(memory.data(), 0, pes * sizeof(std::uint64_t));
  checker.barrier();
  std::vector<std::uint64_t> seen(pes);
  for (int round = 1; round <= checker.options().rounds; ++round) {
    const bool is_sync = round % 2 == 0;
    const auto number = static_cast<std::uint64_t>(round);
    for (int pe = 0; pe < checker.n_pes(); ++pe) {
      (void)checker.succeeds(gdrkit_shmem_uint64_p(memory.as<std::uint64_t>() + checker.pe(), number, pe),
                             cli::format("p to PE %d", pe));
    }
    if (is_sync) (void)checker.succeeds(gdrkit_shmem_quiet(), "quiet");
    job::require(is_sync ? gdrkit_shmem_sync_all() : gdrkit_shmem_barrier_all(), is_sync ? "sync_all" : "barrier_all");
    checker.read(seen.data(), memory.data(), pes * sizeof(std::uint64_t));
    for (std::size_t pe = 0; pe < pes; ++pe) {
      checker.demand(seen[pe] == number, cli::format("round %d: after %s, the word of PE %zu is %llu", round,
                                                     is_sync ? "quiet and sync_all" : "barrier_all", pe,
                                                     static_cast<unsigned long long>(seen[pe])));
    }
    job::require(gdrkit_shmem_sync_all(), "sync_all");
  }
}

/// Rings of PEs whose CPUs only fill streams: each stream waits for the previous PE and then forwards the data.
void check_streams(Checker& checker) {
  Ring ring(checker);
  std::uint64_t round = 0;
  for (const std::size_t size : sizes) {
    if (size > checker.options().largest_bytes) continue;
    for (int repeat = 0; repeat < 5; ++repeat) ring.send_round(size, ++round);
  }
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
