// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RemoteMessage: what PEs of several machines send each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::remote {

enum class RemoteMessageKind : std::uint8_t {
  // In order: the receiver handles those of one sender in the order of their numbers.
  put = 1,      ///< data for `offset`; with a request it wants what a flush wants
  get,          ///< wants `size_bytes` from `offset`; the answer is `data`
  update,       ///< an atomic operation on the word at `offset`; with a request the answer is `value`
  flush,        ///< wants an acknowledgement once all before it is delivered and visible
  say,          ///< of meeting `operand` at place `offset`: bytes from `compare` on, of `size_bytes`
  key_request,  ///< wants the key of the chunk at `offset`
  // At once.
  data,         ///< to `request`: the bytes at `offset` of what was wanted
  value,        ///< to `request`: `operand`
  acknowledge,  ///< everything up to number `operand` is delivered
  key,          ///< to `request`: the chunk [offset, offset + size_bytes), its address in `operand`, and its key
  heartbeat,
  death,  ///< of PE `other`
};
inline constexpr RemoteMessageKind last_in_order = RemoteMessageKind::key_request;
inline constexpr RemoteMessageKind last_kind = RemoteMessageKind::death;

/// The header of each; bytes that belong to it follow. Both sides are little-endian 64-bit Linux of one release.
struct RemoteMessage {
  static constexpr std::uint32_t right_magic = 0x67647233;  // identifies the version of this layout
  std::uint32_t magic = right_magic;
  RemoteMessageKind kind = RemoteMessageKind::heartbeat;
  std::uint8_t operation = 0;
  std::uint8_t word_bytes = 0;
  std::uint8_t unused = 0;
  std::int32_t from = 0;
  std::int32_t other = 0;    ///< a PE, or the errno of what was wanted
  std::uint64_t number = 0;  ///< of those in order, from 1
  std::uint64_t request = 0;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
  secret::Tag tag{};  ///< authenticates `from`: see message_keys.hpp
};
static_assert(sizeof(RemoteMessage) == 80 && offsetof(RemoteMessage, tag) == 64);

/// Longest piece of data that one message carries.
inline constexpr std::size_t longest_piece_bytes = std::size_t{64} << 10;

}  // namespace gdrkit::shmem_impl::remote
