// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <array>
#include <cstring>

#include "platform/host/stopwatch.hpp"
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
constexpr const char* comparison_names[] = {"EQ", "NE", "GT", "LE", "LT", "GE"};

/// What a word of all ones is next to 5: below it as signed, above it as unsigned.
bool expected(gdrkit_shmem_comparison comparison, int order) {
  switch (comparison) {
    case GDRKIT_SHMEM_EQ: return order == 0;
    case GDRKIT_SHMEM_NE: return order != 0;
    case GDRKIT_SHMEM_GT: return order > 0;
    case GDRKIT_SHMEM_LE: return order <= 0;
    case GDRKIT_SHMEM_LT: return order < 0;
    default: return order >= 0;
  }
}

/// Words that this PE wrote itself.
void check_comparisons(Checker& checker, const SymmetricMemory& memory) {
  struct Sample {
    std::uint64_t held;
    int signed_order, unsigned_order;  // to 5
  };
  constexpr Sample samples[] = {{4, -1, -1}, {5, 0, 0}, {6, 1, 1}, {~std::uint64_t{0}, -1, 1}};
  for (const Kind& kind : kinds) {
    for (const Sample& sample : samples) {
      checker.write(memory.data(), &sample.held, kind.size_bytes);
      for (int number = 0; number < static_cast<int>(std::size(comparison_names)); ++number) {
        const auto comparison = static_cast<gdrkit_shmem_comparison>(number);
        const int order = kind.word < 0 ? sample.signed_order : sample.unsigned_order;
        const int tested = gdrkit_shmem_test(memory.data(), kind.word, comparison, 5);
        const std::string what = cli::format("test of %s %s 5 with %llx", kind.name, comparison_names[number],
                                             static_cast<unsigned long long>(sample.held));
        checker.demand(tested == (expected(comparison, order) ? 1 : 0), what + cli::format(" returned %d", tested));
        if (!expected(comparison, order)) continue;
        (void)checker.succeeds(gdrkit_shmem_wait_until(memory.data(), kind.word, comparison, 5), "wait_until: " + what);
      }
    }
  }
}

/// Words that the PE before this one writes while this one waits.
void check_wakeups(Checker& checker, const SymmetricMemory& memory) {
  const int next = checker.neighbour(1);
  for (std::size_t number = 0; number < std::size(kinds); ++number) {
    const Kind& kind = kinds[number];
    std::uint8_t* const word = memory.data() + (number + 1) * sizeof(std::uint64_t);
    checker.fill(word, 0, sizeof(std::uint64_t));
    checker.barrier();
    const std::int64_t value = kind.word < 0 ? -7 : 7;
    (void)checker.succeeds(gdrkit_shmem_put(word, &value, kind.size_bytes, next), cli::format("put to PE %d", next));
    (void)checker.succeeds(gdrkit_shmem_wait_until(word, kind.word, GDRKIT_SHMEM_NE, 0),
                           cli::format("wait_until of %s NE 0", kind.name));
    const int tested = gdrkit_shmem_test(word, kind.word, GDRKIT_SHMEM_EQ, static_cast<std::uint64_t>(value));
    checker.demand(tested == 1, cli::format("the %s that ended wait_until is not the one that was put", kind.name));
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

void check_many_refusals(Checker& checker, const SymmetricMemory& memory) {
  const std::uint64_t values[3] = {};
  const int skip_all[2] = {1, 1};
  std::size_t index = 0;
  gdrkit_shmem_words asked{memory.data(), 2, GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_EQ, values, 1, skip_all};
  checker.is_refused(gdrkit_shmem_wait_until_any(&asked, &index), ENODATA, "wait_until_any with all words skipped");
  checker.demand(gdrkit_shmem_test_all(&asked) == 1, "test_all with all words skipped is not 1");
  checker.is_refused(gdrkit_shmem_test_some(&asked, nullptr, &index), EINVAL, "test_some without indices");
  checker.is_refused(gdrkit_shmem_wait_until_all(nullptr), EINVAL, "wait_until_all of no words");
  asked.n_values = 3;
  checker.is_refused(gdrkit_shmem_test_any(&asked, &index), EINVAL, "test_any of 2 words with 3 values");
  asked.n_values = 1;
  asked.address = values;
  checker.is_refused(gdrkit_shmem_wait_until_all(&asked), EINVAL, "wait_until_all of words outside the heap");
}

void check_limit(Checker& checker, const SymmetricMemory& memory) {
  constexpr std::uint32_t limit_ms = 50;
  constexpr std::uint32_t usual_ms = 60'000;
  checker.fill(memory.data(), 0, sizeof(std::uint64_t));
  (void)checker.succeeds(gdrkit_shmem_set_timeout(limit_ms), "set_timeout");
  const std::int64_t begin = platform::now_ns();
  const int code = gdrkit_shmem_wait_until(memory.data(), GDRKIT_SHMEM_UINT64, GDRKIT_SHMEM_EQ, 1);
  const std::int64_t waited_ms = (platform::now_ns() - begin) / 1'000'000;
  (void)checker.succeeds(gdrkit_shmem_set_timeout(usual_ms), "set_timeout");
  checker.is_refused(code, ETIMEDOUT, cli::format("wait_until with a limit of %u ms", limit_ms));
  checker.demand(waited_ms >= limit_ms - 1,
                 cli::format("wait_until timed out after %lld ms", static_cast<long long>(waited_ms)));
}

}  // namespace

void check_waiting(Checker& checker) {
  const SymmetricMemory memory(checker, (std::size(kinds) + 1) * sizeof(std::uint64_t));
  check_comparisons(checker, memory);
  check_wakeups(checker, memory);
  check_many(checker);
  check_many_refusals(checker, memory);
  check_limit(checker, memory);
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
