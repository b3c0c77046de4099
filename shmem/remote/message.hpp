// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RemoteMessage: a message between PEs of different nodes, and its bytes, as UCX carries them. No other code writes
// or parses them.
//
// A block consists of the tag, the fields that all messages have, the 64-bit fields that are not 0, and short data.
// Longer data are sent next to the block. Small blocks are faster: UCX sends up to about 90 bytes over shared memory in
// its shortest way, and computing the tag takes time for each 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::remote {

enum class RemoteMessageKind : std::uint8_t {
  // Ordered: the receiver handles the messages of one sender in the order of their numbers.
  put = 1,      ///< data for `offset`
  get,          ///< requests `size_bytes` from `offset`; the reply is `data`
  update,       ///< an atomic operation on the word at `offset`; with a request the reply is `value`
  flush,        ///< requests an acknowledgement when all earlier messages are delivered and visible
  allgather,    ///< data of allgather `operand` at place `offset`: bytes from `compare` on, of `size_bytes`
  key_request,  ///< requests the key of the chunk at `offset`
  // Unordered.
  data,         ///< to `request`: bytes of the requested data, at `offset`
  value,        ///< to `request`: `operand`
  acknowledge,  ///< everything up to number `operand` is delivered
  key,          ///< to `request`: the chunk [offset, offset + size_bytes), its address in `operand`, and its key
  heartbeat,
  death,  ///< of PE `other`
};
/// Operation of a put that also requests an acknowledgement, like a flush.
inline constexpr std::uint8_t put_and_flush = 1;
inline constexpr RemoteMessageKind last_in_order = RemoteMessageKind::key_request;
inline constexpr RemoteMessageKind last_kind = RemoteMessageKind::death;

/// A message without its data.
struct RemoteMessage {
  RemoteMessageKind kind = RemoteMessageKind::heartbeat;
  std::uint8_t operation = 0;  ///< of an update, or put_and_flush
  std::uint8_t word_bytes = 0;
  std::int32_t from = 0;
  std::int32_t other = 0;    ///< a PE, or the errno of the requested operation
  std::uint64_t number = 0;  ///< of those in order, from 1
  std::uint64_t request = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;  ///< of a put: only of data that are sent next to the block
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};

/// Longest piece of data that one message carries.
inline constexpr std::size_t longest_piece_bytes = std::size_t{64} << 10;

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
