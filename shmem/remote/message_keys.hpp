// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MessageKeys: by which a PE knows that a message is of another PE of its job. UCX lets anybody connect who reaches it.
#pragma once

#include "shmem/bootstrap/token.hpp"
#include "shmem/remote/message.hpp"

namespace gdrkit::shmem {

class MessageKeys {
 public:
  MessageKeys() noexcept = default;
  /// `job_key`: nullptr where PEs met without one; then `nonce`, which is PE 0's, came by a way that others cannot see.
  MessageKeys(const Key* job_key, const Token& nonce) noexcept
      : key_(derive_key(job_key == nullptr ? Key{} : *job_key, "messages", {nonce})) {}

  /// For what one PE sends to another one.
  [[nodiscard]] SipKey of(int from, int to) const noexcept;

 private:
  Key key_{};
};

/// Over the message, and over the bytes that travel in one block with it. Longer data follow by themselves and are not
/// covered: it would halve their rate, and who can change packets is not kept out anyway.
[[nodiscard]] Tag tag_of(const SipKey& key, const RemoteMessage& message, Bytes in_one_block) noexcept;

}  // namespace gdrkit::shmem
