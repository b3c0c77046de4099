// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/message_keys.hpp"

#include <algorithm>
#include <cstddef>

namespace gdrkit::shmem {

SipKey MessageKeys::of(int from, int to) const noexcept {
  const Key pair = derive_key(key_, "pair", {bytes_of(from), bytes_of(to)});
  SipKey key;
  std::copy_n(pair.begin(), key.size(), key.begin());
  return key;
}

Tag tag_of(const SipKey& key, const RemoteMessage& message, Bytes in_one_block) noexcept {
  return siphash(key, bytes_of(message).first(offsetof(RemoteMessage, tag)), in_one_block);
}

}  // namespace gdrkit::shmem
