// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DecodedMessage: a message parsed from the bytes that UCX delivers. No other code parses them.
#pragma once

#include <optional>

#include "shmem/remote/message.hpp"

namespace gdrkit::shmem_impl::remote {

struct DecodedMessage {
  RemoteMessage message;
  secret::Bytes data;          ///< points into the caller's memory
  secret::Bytes in_one_block;  ///< the part of `data` that the tag covers: all of it or nothing
};

/// Checks only the sizes and the sender field, which selects the key. Returns nullopt if the bytes are not a message of
/// another PE.
[[nodiscard]] std::optional<DecodedMessage> decode_message(secret::Bytes header, secret::Bytes data, int own_pe,
                                                           int n_pes) noexcept;

/// Returns whether all fields are within the limits of the message's kind. The receiver must check requests, offsets
/// and numbers against its own state.
[[nodiscard]] bool has_sound_fields(const DecodedMessage& decoded, int n_pes) noexcept;

}  // namespace gdrkit::shmem_impl::remote
