// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

/// To add an operation, add a row.
struct Operation {
  const char* name;
  gdrkit_shmem_atomic_operation code;
  std::uint64_t (*result)(std::uint64_t old, std::uint64_t operand, std::uint64_t compare);
};
using Word = std::uint64_t;
constexpr Operation operations[] = {
    {"fetch", GDRKIT_SHMEM_ATOMIC_FETCH, [](Word old, Word, Word) { return old; }},
    {"set", GDRKIT_SHMEM_ATOMIC_SET, [](Word, Word operand, Word) { return operand; }},
    {"add", GDRKIT_SHMEM_ATOMIC_ADD, [](Word old, Word operand, Word) { return old + operand; }},
    {"swap", GDRKIT_SHMEM_ATOMIC_SWAP, [](Word, Word operand, Word) { return operand; }},
    {"compare_swap", GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP,
     [](Word old, Word operand, Word compare) { return old == compare ? operand : old; }},
    {"and", GDRKIT_SHMEM_ATOMIC_AND, [](Word old, Word operand, Word) { return old & operand; }},
    {"or", GDRKIT_SHMEM_ATOMIC_OR, [](Word old, Word operand, Word) { return old | operand; }},
    {"xor", GDRKIT_SHMEM_ATOMIC_XOR, [](Word old, Word operand, Word) { return old ^ operand; }},
};

Word cut(Word value, std::size_t size_bytes) { return size_bytes == 4 ? value & UINT32_MAX : value; }

/// One operation on a word of the next PE, between two words that must not change.
void check_one(Checker& checker, const SymmetricMemory& memory, const Operation& operation, std::size_t size_bytes,
               bool fetches, bool matches) {
  constexpr Word start = 0x1122334455667788;
  constexpr Word operand = 0xf0f0f0f0a5a5a5a5;
  constexpr Word guard = 0xdddddddddddddddd;
  const int pe = checker.neighbour(1);
  const Word before[] = {guard, start, guard};
  checker.write(memory.data(), before, sizeof before);
  checker.barrier();
  const std::string what =
      cli::format("atomic %s of %zu bytes%s on PE %d", operation.name, size_bytes, fetches ? ", fetching" : "", pe);
  Word fetched = 0;
  const Word compare = cut(matches ? start : start + 1, size_bytes);
  const int code = gdrkit_shmem_atomic(memory.as<Word>() + 1, size_bytes, operation.code, cut(operand, size_bytes),
                                       compare, fetches ? &fetched : nullptr, pe);
  if (checker.succeeds(code, what) && fetches) {
    checker.demand(cut(fetched, size_bytes) == cut(start, size_bytes),
                   what + cli::format(" fetched 0x%" PRIx64, fetched));
  }
  checker.barrier();
  Word after[3] = {};
  checker.read(after, memory.data(), sizeof after);
  Word expected = cut(operation.result(cut(start, size_bytes), cut(operand, size_bytes), compare), size_bytes);
  if (size_bytes == 4) expected |= start & ~Word{UINT32_MAX};
  checker.demand(after[0] == guard && after[2] == guard, what + " changed a neighbouring word");
  checker.demand(after[1] == expected,
                 what + cli::format(" left 0x%" PRIx64 ", expected 0x%" PRIx64, after[1], expected));
  checker.barrier();
}

/// All PEs operate on words of PE 0 at the same time: every sum, ticket and lock must be exact.
void check_together(Checker& checker, const SymmetricMemory& memory) {
  enum : std::size_t { sum, tickets, lock, guarded, words };
  const auto each = static_cast<Word>(std::clamp(checker.options().rounds / 4, 1, 200));
  const Word all = each * static_cast<Word>(checker.n_pes());
  checker.fill(memory.data(), 0, words * sizeof(Word));
  checker.barrier();
  Word* const word = memory.as<Word>();
  Word last = 0;
  for (Word turn = 0; turn < each; ++turn) {
    (void)checker.succeeds(gdrkit_shmem_atomic(word + sum, sizeof(Word), GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, nullptr, 0),
                           "atomic add");
    Word ticket = 0;
    (void)checker.succeeds(gdrkit_shmem_atomic(word + tickets, sizeof(Word), GDRKIT_SHMEM_ATOMIC_ADD, 1, 0, &ticket, 0),
                           "fetch_add");
    checker.demand(ticket < all && (turn == 0 || ticket > last),
                   cli::format("fetch_add returned the ticket %" PRIu64, ticket));
    last = ticket;
  }
  for (Word turn = 0; turn < each / 10 + 1; ++turn) {
    for (Word holder = 1; holder != 0;) {
      if (!checker.succeeds(
              gdrkit_shmem_atomic(word + lock, sizeof(Word), GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP, 1, 0, &holder, 0),
              "compare_swap")) {
        return checker.barrier();
      }
    }
    Word value = 0;
    (void)checker.succeeds(gdrkit_shmem_uint64_g(word + guarded, &value, 0), "g of the guarded word");
    (void)checker.succeeds(gdrkit_shmem_uint64_p(word + guarded, value + 1, 0), "p of the guarded word");
    (void)checker.succeeds(gdrkit_shmem_quiet(), "quiet");
    (void)checker.succeeds(gdrkit_shmem_atomic(word + lock, sizeof(Word), GDRKIT_SHMEM_ATOMIC_SWAP, 0, 0, nullptr, 0),
                           "atomic swap");
  }
  checker.barrier();
  if (checker.pe() == 0) {
    Word after[words] = {};
    checker.read(after, memory.data(), sizeof after);
    const Word sections = (each / 10 + 1) * static_cast<Word>(checker.n_pes());
    checker.demand(after[sum] == all,
                   cli::format("%" PRIu64 " atomic additions of 1 resulted in %" PRIu64, all, after[sum]));
    checker.demand(after[tickets] == all, cli::format("%" PRIu64 " tickets resulted in %" PRIu64, all, after[tickets]));
    checker.demand(after[guarded] == sections,
                   cli::format("%" PRIu64 " additions under a lock resulted in %" PRIu64, sections, after[guarded]));
  }
  checker.barrier();
}

/// A value whose bytes all differ between PEs and types. Bytes, not a number, are compared: not all are valid floats.
template <class T>
T value_of(int pe, std::size_t type) {
  std::uint8_t bytes[sizeof(T)];
  fill_pattern(bytes, sizeof bytes, static_cast<std::uint64_t>(pe) * 1000 + type);
  bytes[sizeof(T) - 1] &= 0x3f;  // no NaN, which a conversion might change
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
bool is_same(const T& one, const T& other) {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

}  // namespace

void check_atomics(Checker& checker) {
  const SymmetricMemory memory(checker, 64);
  for (const Operation& operation : operations) {
    for (const std::size_t size : {std::size_t{4}, std::size_t{8}}) {
      for (const bool fetches : {false, true}) {
        for (const bool matches : {true, false}) {
          if (!matches && operation.code != GDRKIT_SHMEM_ATOMIC_COMPARE_SWAP) continue;
          check_one(checker, memory, operation, size, fetches, matches);
        }
      }
    }
  }
  check_together(checker, memory);
}

void check_scalars(Checker& checker) {
  constexpr std::size_t place_bytes = 16;
  constexpr std::size_t most_types = 64;
  const auto row_bytes = most_types * place_bytes;
  const SymmetricMemory memory(checker, row_bytes * static_cast<std::size_t>(checker.n_pes()));
  // A row for each PE that writes, a place for each type.
  const auto place = [&](int row, std::size_t type) {
    return memory.data() + static_cast<std::size_t>(row) * row_bytes + type * place_bytes;
  };
  std::size_t type = 0;
#define CHECK_P(name, c_type)                                                                         \
  for (int pe = 0; pe < checker.n_pes(); ++pe) {                                                      \
    auto* const target = reinterpret_cast<c_type*>(place(checker.pe(), type));                        \
    (void)checker.succeeds(gdrkit_shmem_##name##_p(target, value_of<c_type>(checker.pe(), type), pe), \
                           cli::format("%s_p to PE %d", #name, pe));                                  \
  }                                                                                                   \
  ++type;
  GDRKIT_SHMEM_FOR_EACH_TYPE(CHECK_P)
#undef CHECK_P
  checker.barrier();
  std::vector<std::uint8_t> rows(row_bytes * static_cast<std::size_t>(checker.n_pes()));
  checker.read(rows.data(), memory.data(), rows.size());
  type = 0;
#define CHECK_G(name, c_type)                                                                                         \
  for (int pe = 0; pe < checker.n_pes(); ++pe) {                                                                      \
    const auto offset = static_cast<std::size_t>(place(pe, type) - memory.data());                                    \
    const c_type expected = value_of<c_type>(pe, type);                                                               \
    std::vector<std::uint8_t> got(rows.data() + offset, rows.data() + offset + sizeof expected);                      \
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&expected);                                       \
    checker.compare(&got, {bytes, bytes + sizeof expected},                                                           \
                    cli::format("%s_p by PE %d, %zu bytes", #name, pe, sizeof expected));                             \
    c_type fetched{};                                                                                                 \
    const auto* const source = reinterpret_cast<const c_type*>(place(checker.pe(), type));                            \
    if (checker.succeeds(gdrkit_shmem_##name##_g(source, &fetched, pe), cli::format("%s_g from PE %d", #name, pe))) { \
      checker.demand(is_same(fetched, value_of<c_type>(checker.pe(), type)),                                          \
                     cli::format("%s_g from PE %d fetched another value", #name, pe));                                \
    }                                                                                                                 \
  }                                                                                                                   \
  ++type;
  GDRKIT_SHMEM_FOR_EACH_TYPE(CHECK_G)
#undef CHECK_G
  checker.barrier();
}

}  // namespace gdrkit::transfer::shmem
