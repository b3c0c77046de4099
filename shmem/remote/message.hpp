// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RemoteMessage: a message between PEs of different machines.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdrkit::shmem_impl::remote {

enum class RemoteMessageKind : std::uint8_t {
  // Ordered: the receiver handles the messages of one sender in the order of their numbers.
  put = 1,      ///< data for `offset`
  get,          ///< requests `size_bytes` from `offset`; the reply is `data`
  update,       ///< an atomic operation on the word at `offset`; with a request the reply is `value`
  flush,        ///< requests an acknowledgement when all earlier messages are delivered and visible
  meeting,      ///< data of meeting `operand` at place `offset`: bytes from `compare` on, of `size_bytes`
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

}  // namespace gdrkit::shmem_impl::remote
