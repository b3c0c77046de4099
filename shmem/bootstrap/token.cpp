// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/bootstrap/token.hpp"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gdrkit::shmem_impl::bootstrap {

base::Result<Token> make_token() noexcept {
  Token token{};
  std::size_t got = 0;
  while (got < token.size()) {
    const ssize_t more = ::getrandom(token.data() + got, token.size() - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0)
      return base::fail(errno, "cannot read random bytes for the secret of the job: %s", std::strerror(errno));
    got += static_cast<std::size_t>(more);
  }
  return token;
}

std::string to_hex(secret::Bytes bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace gdrkit::shmem_impl::bootstrap
