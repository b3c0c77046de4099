// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/message_keys.hpp"

#include <algorithm>

namespace gdrkit::shmem_impl::remote {

secret::SipKey MessageKeys::of(int from, int to) const noexcept {
  const secret::Key pair = secret::derive_key(key_, "pair", {secret::bytes_of(from), secret::bytes_of(to)});
  secret::SipKey key;
  std::copy_n(pair.begin(), key.size(), key.begin());
  return key;
}

}  // namespace gdrkit::shmem_impl::remote
