// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/check_list.hpp"

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
    const gdrkit_shmem_words asked{words.data(), count, kind.word, GDRKIT_SHMEM_EQ, values, count, skip};
    checker.demand(gdrkit_shmem_test_all(&asked) == 0,
                   cli::format("test_all of %s before anything was put", kind.name));
    checker.barrier();
    for (std::size_t i = 0; i < count; i += 2) {
      (void)checker.succeeds(gdrkit_shmem_put(words.data() + i * kind.size_bytes, &values[i], kind.size_bytes, next),
                             "put");
    }
    std::size_t indices[count] = {};
    std::size_t found = 0;
    (void)checker.succeeds(gdrkit_shmem_wait_until_some(&asked, indices, &found), "wait_until_some");
    checker.demand(found >= 1 && indices[0] % 2 == 0,
                   cli::format("wait_until_some of %s found %zu words", kind.name, found));
    (void)checker.succeeds(gdrkit_shmem_wait_until_all(&asked), "wait_until_all");
    (void)checker.succeeds(gdrkit_shmem_wait_until_any(&asked, &found), "wait_until_any");
    checker.demand(found < count && found % 2 == 0,
                   cli::format("wait_until_any of %s found word %zu, which was not put", kind.name, found));
    checker.demand(gdrkit_shmem_test_all(&asked) == 1, cli::format("test_all of %s after wait_until_all", kind.name));
    checker.demand(gdrkit_shmem_test_some(&asked, indices, &found) == 0 && found == 4 && indices[3] == 6,
                   cli::format("test_some of %s does not find the 4 words that were put", kind.name));
    checker.barrier();
  }
}

}  // namespace

void check_waiting(Checker& checker) {
  const SymmetricMemory memory(checker, std::size(kinds) * sizeof(std::uint64_t));
  check_wakeups(checker, memory);
  check_many(checker);
}

}  // namespace gdrkit::transfer::shmem
