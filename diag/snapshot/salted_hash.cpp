// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/salted_hash.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <iterator>

#include "cli/interface/exit_code.hpp"

namespace gdrkit::diag::snapshot {
namespace {

/// One round of SipHash (Aumasson and Bernstein, 2012).
void mix(std::array<std::uint64_t, 4>& v) {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[2] = std::rotl(v[2], 32);
}

std::uint64_t word_at(std::string_view bytes, std::size_t at) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8 && at + i < bytes.size(); ++i) {
    word |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return word;
}

char lower(char character) { return static_cast<char>(std::tolower(static_cast<unsigned char>(character))); }

}  // namespace

SaltedHash::Salt SaltedHash::random_salt() {
  Salt salt{};
  if (::getrandom(salt.data(), sizeof(salt), 0) != static_cast<ssize_t>(sizeof(salt))) {
    cli::fail("cannot redact the recording: getrandom() returned no random numbers");
  }
  return salt;
}

std::uint64_t SaltedHash::value(std::string_view bytes) const {
  std::array<std::uint64_t, 4> v = {salt_[0] ^ 0x736f6d6570736575u, salt_[1] ^ 0x646f72616e646f6du,
                                    salt_[0] ^ 0x6c7967656e657261u, salt_[1] ^ 0x7465646279746573u};
  const auto take = [&](std::uint64_t word) {
    v[3] ^= word;
    mix(v);
    mix(v);
    v[0] ^= word;
  };
  const std::size_t whole = bytes.size() / 8 * 8;
  for (std::size_t at = 0; at < whole; at += 8) take(word_at(bytes, at));
  take(word_at(bytes, whole) | std::uint64_t{bytes.size()} << 56);
  v[2] ^= 0xff;
  for (int round = 0; round < 4; ++round) mix(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

std::string SaltedHash::word(std::string_view bytes) const {
  return cli::format("%08x", static_cast<unsigned>(value("word:" + std::string(bytes)) & 0xffffffffu));
}

std::string SaltedHash::like(std::string_view text, std::string_view kind, bool is_hex) const {
  std::string key(kind);
  key += ':';
  std::ranges::transform(text, std::back_inserter(key), lower);
  std::string result(text);
  for (std::size_t at = 0; at < result.size(); ++at) {
    const std::uint64_t number = value(key + "#" + std::to_string(at));
    const char old = result[at];
    if (is_hex && std::isxdigit(static_cast<unsigned char>(old)) != 0) {
      result[at] =
          (std::isupper(static_cast<unsigned char>(old)) != 0 ? "0123456789ABCDEF" : "0123456789abcdef")[number % 16];
    } else if (std::isdigit(static_cast<unsigned char>(old)) != 0) {
      result[at] = static_cast<char>('0' + number % 10);
    } else if (std::isalpha(static_cast<unsigned char>(old)) != 0) {
      result[at] = static_cast<char>((std::isupper(static_cast<unsigned char>(old)) != 0 ? 'A' : 'a') + number % 26);
    }
  }
  return result;
}

std::array<std::uint8_t, 4> SaltedHash::address(const std::array<std::uint8_t, 4>& address) const {
  // Loopback, unspecified, mask and multicast addresses do not identify a host. Private and link-local ones stay in
  // their class.
  if (address[0] == 0 || address[0] == 127 || address[0] >= 224) return address;
  const bool is_two_byte_class = (address[0] == 192 && address[1] == 168) || (address[0] == 169 && address[1] == 254) ||
                                 (address[0] == 172 && address[1] >= 16 && address[1] < 32);
  std::array<std::uint8_t, 4> result = address;
  std::string before = "address:";
  for (std::size_t at = 0; at < address.size(); ++at) {
    const bool is_class = at == 0 || (at == 1 && is_two_byte_class);
    if (!is_class) result[at] = static_cast<std::uint8_t>(address[at] ^ (value(before) & 0xff));
    before += static_cast<char>(address[at]);
  }
  return result;
}

}  // namespace gdrkit::diag::snapshot
