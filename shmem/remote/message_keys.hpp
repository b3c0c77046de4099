// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// MessageKeys: by which a PE knows that a message is of another PE of its job. UCX lets anybody connect who reaches it.
#pragma once

#include "shmem/bootstrap/token.hpp"
#include "shmem/remote/message.hpp"

namespace gdrkit::shmem_impl::remote {

class MessageKeys {
 public:
  MessageKeys() noexcept = default;
  /// `job_key`: nullptr where PEs met without one; then `nonce`, which is PE 0's, came by a way that others cannot see.
  MessageKeys(const secret::Key* job_key, const bootstrap::Token& nonce) noexcept
      : key_(secret::derive_key(job_key == nullptr ? secret::Key{} : *job_key, "messages", {nonce})) {}

  /// For what one PE sends to another one.
  [[nodiscard]] secret::SipKey of(int from, int to) const noexcept;

 private:
  secret::Key key_{};
};

/// Over the message, and over the bytes that travel in one block with it. Longer data follow by themselves and are not
/// covered: it would halve their rate, and who can change packets is not kept out anyway.
[[nodiscard]] secret::Tag tag_of(const secret::SipKey& key, const RemoteMessage& message,
                                 secret::Bytes in_one_block) noexcept;

}  // namespace gdrkit::shmem_impl::remote
