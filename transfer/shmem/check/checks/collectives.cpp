// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// broadcast, fcollect and alltoall, by the CPU and on a stream, one after the other on the same memory.
#include <algorithm>

#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr gdrkit_shmem_team_t world = GDRKIT_SHMEM_TEAM_WORLD;
/// Sizes through scratch memory, in one piece and through the other PEs; at and next to the boundaries of blocks.
constexpr std::size_t sizes[] = {1, 8, 100, 2048, 4096, 65'536, 65'552, 300'001, 1'048'576, 4'194'307};
constexpr std::size_t few_roots_from_bytes = 65'536;

struct Call {
  gdrkit_shmem_team_t team;
  std::uint8_t* target;
  const std::uint8_t* source;
  std::size_t size_bytes;  ///< of a part
  int root;
  void* stream;
};
/// To add an operation, add a row.
struct Operation {
  const char* name;
  bool has_target_parts;
  bool has_source_parts;
  int (*call)(const Call& call);
  int (*call_on_stream)(const Call& call);
};
constexpr Operation operations[] = {
    {"broadcast", false, false,
     [](const Call& c) { return gdrkit_shmem_broadcast(c.team, c.target, c.source, c.size_bytes, c.root); },
     [](const Call& c) {
       return gdrkit_shmem_broadcast_on_stream(c.team, c.target, c.source, c.size_bytes, c.root, c.stream);
     }},
    {"fcollect", true, false,
     [](const Call& c) { return gdrkit_shmem_fcollect(c.team, c.target, c.source, c.size_bytes); },
     [](const Call& c) { return gdrkit_shmem_fcollect_on_stream(c.team, c.target, c.source, c.size_bytes, c.stream); }},
    {"alltoall", true, true,
     [](const Call& c) { return gdrkit_shmem_alltoall(c.team, c.target, c.source, c.size_bytes); },
     [](const Call& c) { return gdrkit_shmem_alltoall_on_stream(c.team, c.target, c.source, c.size_bytes, c.stream); }},
};

/// PE `pe`'s source in a round.
std::vector<std::uint8_t> source_of(int pe, std::uint64_t round, std::size_t size_bytes) {
  return pattern(size_bytes, round * 1024 + static_cast<std::uint64_t>(pe));
}

class Exchanges {
 public:
  Exchanges(Checker& checker, std::size_t largest)
      : checker_(checker),
        parts_(static_cast<std::size_t>(checker.n_pes())),
        target_(checker, parts_ * largest),
        source_(checker, parts_ * largest) {
    (void)checker.succeeds(gdrkit_shmem_stream_create(&stream_), "stream_create");
  }
  ~Exchanges() { (void)checker_.succeeds(gdrkit_shmem_stream_destroy(stream_), "stream_destroy"); }
  Exchanges(const Exchanges&) = delete;
  Exchanges& operator=(const Exchanges&) = delete;

  void run(const Operation& operation, std::size_t size, int root, bool is_on_stream) {
    ++round_;
    const std::string what =
        cli::format("%s%s of %zu bytes, root %d", operation.name, is_on_stream ? "_on_stream" : "", size, root);
    const std::vector<std::uint8_t> mine =
        source_of(checker_.pe(), round_, operation.has_source_parts ? parts_ * size : size);
    checker_.write(source_.data(), mine.data(), mine.size());
    const std::size_t target_bytes = operation.has_target_parts ? parts_ * size : size;
    checker_.fill(target_.data(), 0xee, target_bytes);
    const Call call{world, target_.data(), source_.data(), size, root, stream_};
    (void)checker_.succeeds(is_on_stream ? operation.call_on_stream(call) : operation.call(call), what);
    (void)checker_.succeeds(gdrkit_shmem_stream_synchronize(stream_), what + ": stream_synchronize");
    std::vector<std::uint8_t> got(target_bytes);
    checker_.read(got.data(), target_.data(), got.size());
    checker_.compare(&got, expected(operation, size, root), what);
  }

 private:
  [[nodiscard]] std::vector<std::uint8_t> expected(const Operation& operation, std::size_t size, int root) const {
    if (!operation.has_target_parts) return source_of(root, round_, size);
    std::vector<std::uint8_t> all;
    for (int from = 0; from < checker_.n_pes(); ++from) {
      const std::vector<std::uint8_t> theirs =
          source_of(from, round_, operation.has_source_parts ? parts_ * size : size);
      const auto part = operation.has_source_parts ? static_cast<std::size_t>(checker_.pe()) * size : 0;
      const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(part);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    return all;
  }

  Checker& checker_;
  const std::size_t parts_;
  SymmetricMemory target_;
  SymmetricMemory source_;
  void* stream_ = nullptr;
  std::uint64_t round_ = 0;
};

/// A barrier on a stream between puts: earlier puts must be visible after it.
void check_barriers_on_stream(Checker& checker) {
  const auto pes = static_cast<std::size_t>(checker.n_pes());
  const SymmetricMemory words(checker, pes * sizeof(std::uint64_t));
  checker.fill(words.data(), 0, pes * sizeof(std::uint64_t));
  checker.barrier();
  const auto rounds = static_cast<std::uint64_t>(checker.options().rounds / 10 + 1);
  std::vector<std::uint64_t> seen(pes);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (int pe = 0; pe < checker.n_pes(); ++pe) {
      (void)checker.succeeds(
          gdrkit_shmem_uint64_p_on_stream(words.as<std::uint64_t>() + checker.pe(), round, pe, nullptr), "p_on_stream");
    }
    (void)checker.succeeds(gdrkit_shmem_barrier_all_on_stream(nullptr), "barrier_all_on_stream");
    (void)checker.succeeds(
        gdrkit_shmem_get_on_stream(seen.data(), words.data(), pes * sizeof(std::uint64_t), checker.pe(), nullptr),
        "get_on_stream");
    (void)checker.succeeds(gdrkit_shmem_sync_all_on_stream(nullptr), "sync_all_on_stream");
    (void)checker.succeeds(gdrkit_shmem_stream_synchronize(nullptr), "stream_synchronize");
    for (std::size_t pe = 0; pe < pes; ++pe) {
      checker.demand(
          seen[pe] == round,
          cli::format("round %llu: after barrier_all_on_stream, the word of PE %zu is %llu",
                      static_cast<unsigned long long>(round), pe, static_cast<unsigned long long>(seen[pe])));
    }
  }
}

}  // namespace

void check_collectives(Checker& checker) {
  {
    Exchanges exchanges(checker, std::min(checker.options().largest_bytes, sizes[std::size(sizes) - 1]));
    for (const std::size_t size : sizes) {
      if (size > checker.options().largest_bytes) continue;
      for (const Operation& operation : operations) {
        // Of much data, the first and the last root.
        const int step = size > few_roots_from_bytes ? std::max(checker.n_pes() - 1, 1) : 1;
        for (int root = 0; root < (operation.has_target_parts ? 1 : checker.n_pes()); root += step) {
          for (const bool is_on_stream : {false, true}) exchanges.run(operation, size, root, is_on_stream);
        }
      }
    }
  }
  check_barriers_on_stream(checker);
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
