// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Copy kernel "vsx": 16-byte accesses, aligned on the device side: unaligned ones fault on caching-inhibited memory.
#include <cstddef>

#include "copy/word_access.hpp"

namespace gdrkit::copy::copy_kernel::vsx {
namespace {

struct [[gnu::packed, gnu::may_alias]] Anywhere {
  Vector value;
};

Vector from_host(const void* host) noexcept { return static_cast<const Anywhere*>(host)->value; }
void to_host(void* host, Vector value) noexcept { static_cast<Anywhere*>(host)->value = value; }

}  // namespace

// Volatile: the compiler must not split or repeat an access to the device.
[[gnu::target("vsx")]] void store_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<volatile Vector*>(target);
  const auto* from = static_cast<const char*>(source);
  for (; line_count != 0; --line_count, to += 4, from += line_bytes) {
    const Vector first = from_host(from);
    const Vector second = from_host(from + 16);
    const Vector third = from_host(from + 32);
    const Vector fourth = from_host(from + 48);
    to[0] = first;
    to[1] = second;
    to[2] = third;
    to[3] = fourth;
  }
}

[[gnu::target("vsx")]] void load_lines(void* target, const void* source, std::size_t line_count) noexcept {
  auto* to = static_cast<char*>(target);
  const auto* from = static_cast<const volatile Vector*>(source);
  for (; line_count != 0; --line_count, to += line_bytes, from += 4) {
    const Vector first = from[0];
    const Vector second = from[1];
    const Vector third = from[2];
    const Vector fourth = from[3];
    to_host(to, first);
    to_host(to + 16, second);
    to_host(to + 32, third);
    to_host(to + 48, fourth);
  }
}

}  // namespace gdrkit::copy::copy_kernel::vsx
