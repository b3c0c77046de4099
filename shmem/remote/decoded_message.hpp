// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DecodedMessage: the one place that turns bytes from UCX into a message.
#pragma once

#include <optional>

#include "shmem/remote/message.hpp"

namespace gdrkit::shmem_impl::remote {

struct DecodedMessage {
  RemoteMessage message;
  secret::Bytes data;          ///< in the memory of the caller
  secret::Bytes in_one_block;  ///< the part of it that the tag covers: all or nothing
};

/// Looks only at sizes and at who is said to have sent it, which selects the key. nullopt: no message of another PE.
[[nodiscard]] std::optional<DecodedMessage> decode_message(secret::Bytes header, secret::Bytes data, int own_pe,
                                                           int n_pes) noexcept;

/// Whether all fields are within the limits of their kind. What they refer to is the receiver's to check: requests,
/// offsets and numbers.
[[nodiscard]] bool has_sound_fields(const DecodedMessage& decoded, int n_pes) noexcept;

}  // namespace gdrkit::shmem_impl::remote
