// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The bytes of a message, as UCX carries them. No other code writes or parses them.
//
// A block consists of the tag, the fields that all messages have, the 64-bit fields that are not 0, and short data.
// Longer data are sent next to the block. Small blocks are faster: UCX sends up to about 90 bytes over shared memory in
// its shortest way, and computing the tag takes time for each 8 bytes.
#pragma once

#include <optional>
#include <span>

#include "shmem/remote/message.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::remote {

/// Longest header: a block without data.
inline constexpr std::size_t longest_header_bytes = 72;

/// Writes the header of `message` to `block`, which must have room for longest_header_bytes, and leaves the place of
/// the tag empty. Returns the size of the header, a multiple of 8.
[[nodiscard]] std::size_t write_header(const RemoteMessage& message, std::uint8_t* block) noexcept;

/// Writes the tag of a whole block. The tag does not cover data that is sent next to the block: covering it would halve
/// the rate, and the tag is not a defence against an attacker who can modify packets.
void write_tag(const secret::SipKey& key, std::span<std::uint8_t> block) noexcept;

struct DecodedMessage {
  RemoteMessage message;
  secret::Bytes data;   ///< points into the caller's memory
  secret::Bytes block;  ///< likewise; see has_right_tag
  bool is_data_in_block = false;
};

/// Checks only the sizes and the sender field, which selects the key. Returns nullopt if the bytes are not a message of
/// another PE.
[[nodiscard]] std::optional<DecodedMessage> decode_message(secret::Bytes block, secret::Bytes data, int own_pe,
                                                           int n_pes) noexcept;

/// Returns whether a PE that has the key wrote the block.
[[nodiscard]] bool has_right_tag(const secret::SipKey& key, const DecodedMessage& decoded) noexcept;

/// Returns whether all fields are within the limits of the message's kind. The receiver must check requests, offsets
/// and numbers against its own state.
[[nodiscard]] bool has_sound_fields(const DecodedMessage& decoded, int n_pes) noexcept;

}  // namespace gdrkit::shmem_impl::remote
