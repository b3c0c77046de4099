// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Structs of the C APIs start with their size, so that callers built against another version stay compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/result.hpp"

namespace gdrkit::base {

/// Every version of every struct is smaller: a larger size is uninitialized. Bounds the accesses that a caller's size
/// can cause.
inline constexpr std::size_t largest_struct = 4096;

// `first_size` below is the size of a struct's first version, the smallest that a caller can have.

inline Status check_size(std::uint32_t size, std::size_t first_size) noexcept {
  if (size < first_size)
    return fail(EINVAL, "invalid struct_size %u: the minimum is %zu; set struct_size to the size of the struct", size,
                first_size);
  if (size > largest_struct) {
    return fail(EINVAL, "invalid struct_size %u: the maximum is %zu; set struct_size to the size of the struct", size,
                largest_struct);
  }
  return {};
}

/// Copies a caller's options. EINVAL: the struct is smaller than its first version or larger than largest_struct.
/// E2BIG: a newer caller set an option that this library does not have.
template <class Options>
Status read_options(const Options* caller, std::size_t first_size, Options* options) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  if (Status checked = check_size(size, first_size); !checked) return checked;
  const auto* bytes = reinterpret_cast<const unsigned char*>(caller);
  for (std::size_t i = sizeof(Options); i < size; ++i) {
    if (bytes[i] != 0)
      return fail(E2BIG, "the options struct has a nonzero field that this library does not support; update gdrkit");
  }
  *options = {};
  std::memcpy(static_cast<void*>(options), caller, size < sizeof(Options) ? size : sizeof(Options));
  return {};
}

template <class Info>
Status check_info(const Info* caller, std::size_t first_size) noexcept {
  if (caller == nullptr) return fail(EINVAL, "cannot fill the information struct: the pointer to the struct is NULL");
  std::uint32_t size = 0;
  std::memcpy(&size, caller, sizeof size);
  return check_size(size, first_size);
}

/// Fills the members that fit into the caller's struct and zeroes the members that this library does not have. Keeps
/// the caller's struct_size.
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
