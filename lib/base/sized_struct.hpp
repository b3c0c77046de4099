// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Structs of the C APIs that start with their size: how callers built against another version are served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/result.hpp"

namespace gdrkit::base {

/// No version of a struct is larger; what is, was never filled in. Bounds what is read and written for a caller.
inline constexpr std::size_t largest_struct = 4096;

// `first_size` below is the size that the first version of a struct had: no caller has a smaller one.

inline Status check_size(std::uint32_t size, std::size_t first_size) noexcept {
  if (size < first_size) return fail(EINVAL, "invalid struct_size %u: at least %zu was expected", size, first_size);
  if (size > largest_struct) {
    return fail(EINVAL, "invalid struct_size %u: at most %zu was expected", size, largest_struct);
  }
  return {};
}

/// Copies a caller's options. EINVAL when smaller than the first version or absurdly large, E2BIG when a newer caller
/// set a member that this library does not have.
template <class Options>
Status read_options(const Options* caller, std::size_t first_size, Options* options) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  if (Status known = check_size(size, first_size); !known) return known;
  const auto* bytes = reinterpret_cast<const unsigned char*>(caller);
  for (std::size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0) return fail(E2BIG, "unknown option: the library is older than the program; update gdrkit");
  }
  *options = {};
  std::memcpy(static_cast<void*>(options), caller, size < sizeof(Options) ? size : sizeof(Options));
  return {};
}

template <class Info>
Status check_info(const Info* caller, std::size_t first_size) noexcept {
  if (caller == nullptr) return fail(EINVAL, "the information struct is NULL");
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  return check_size(size, first_size);
}

/// Fills what fits into the caller's struct, zeroes members that this library does not have, keeps its struct_size.
template <class Info>
void write_info(Info* caller, Info info) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  info.struct_size = size;
  if (size == sizeof(Info)) [[likely]] {  // of known size: a memcpy of any size would wait for the stores before it
    *caller = info;
    return;
  }
  auto* bytes = reinterpret_cast<unsigned char*>(caller);
  std::memcpy(bytes, &info, size < sizeof(Info) ? size : sizeof(Info));
  if (size > sizeof(Info)) std::memset(bytes + sizeof(Info), 0, size - sizeof(Info));
}

}  // namespace gdrkit::base
