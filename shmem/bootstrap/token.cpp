// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/token.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gdrkit::shmem {

base::Result<Token> make_token() noexcept {
  Token token{};
  std::size_t got = 0;
  while (got < token.size()) {
    const ssize_t more = ::getrandom(token.data() + got, token.size() - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return base::fail(errno, "cannot read random bytes for the job's token: %s", std::strerror(errno));
    got += static_cast<std::size_t>(more);
  }
  return token;
}

bool are_equal(const Token& one, const Token& other) noexcept {
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (one[i] ^ other[i]));
  }
  return difference == 0;
}

std::string to_text(const Token& token) {
  std::string text;
  for (const unsigned char byte : token) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Token token_of_text(const std::string& text) noexcept {
  // FNV-1a with two offsets: it tells jobs apart and hides nothing.
  Token token{};
  std::uint64_t halves[2] = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};
  for (std::uint64_t& half : halves) {
    for (const char character : text) half = (half ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  }
  std::memcpy(token.data(), halves, sizeof halves);
  return token;
}

}  // namespace gdrkit::shmem
