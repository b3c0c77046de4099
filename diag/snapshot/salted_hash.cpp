// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/salted_hash.hpp"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <iterator>

#include "cli/interface/exit_code.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::diag::snapshot {
namespace {

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
  namespace secret = shmem_impl::secret;
  return secret::siphash_64(std::bit_cast<secret::SipKey>(salt_), secret::bytes_of(bytes));
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
