// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MessageKeys: the keys that authenticate messages between PEs of one job. UCX itself accepts connections from any host
// that can reach it.
#pragma once

#include <algorithm>

#include "shmem/bootstrap/token.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::remote {

class MessageKeys {
 public:
  MessageKeys() noexcept = default;
  /// `nonce` is PE 0's. `job_key` is nullptr if the PEs connected without a key; then other users could not read the
  /// connection that carried `nonce`.
  MessageKeys(const secret::Key* job_key, const bootstrap::Token& nonce) noexcept
      : key_(secret::derive_key(job_key == nullptr ? secret::Key{} : *job_key, "messages, layout 4", {nonce})) {}

  /// Key of the messages from PE `from` to PE `to`.
  [[nodiscard]] secret::SipKey of(int from, int to) const noexcept {
    const secret::Key pair = secret::derive_key(key_, "pair", {secret::bytes_of(from), secret::bytes_of(to)});
    secret::SipKey key;
    std::copy_n(pair.begin(), key.size(), key.begin());
    return key;
  }

 private:
  secret::Key key_{};
};

}  // namespace gdrkit::shmem_impl::remote
