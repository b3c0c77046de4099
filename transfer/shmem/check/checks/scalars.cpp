// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <cstring>

#include "transfer/shmem/check/check_list.hpp"

namespace gdrkit::transfer::shmem {
namespace {

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
    const c_type wanted = value_of<c_type>(pe, type);                                                                 \
    std::vector<std::uint8_t> got(rows.data() + offset, rows.data() + offset + sizeof wanted);                        \
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&wanted);                                         \
    checker.compare(&got, {bytes, bytes + sizeof wanted},                                                             \
                    cli::format("%s_p by PE %d, %zu bytes", #name, pe, sizeof wanted));                               \
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
