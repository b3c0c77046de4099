// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Peer: state of the traffic with one PE of another node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/vendor/ucx_library.hpp"
#include "shmem/remote/message.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::remote {

/// A message that arrived before its predecessors.
struct EarlyMessage {
  RemoteMessage message;
  std::vector<char> data;
};

/// A chunk of another PE's heap that UCX accesses directly.
struct RemoteChunk {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t address = 0;
  platform::UcxKey* key = nullptr;
};

/// Created by the first message to or from the peer. Numbers count ordered messages from 1.
struct Peer {
  secret::SipKey key_to{};    ///< of messages from this PE to the peer
  secret::SipKey key_from{};  ///< of messages from the peer to this PE
  platform::UcxEndpoint* endpoint = nullptr;
  platform::UcxStatus failure = platform::ucx_ok;  ///< of the endpoint

  std::uint64_t sent = 0;
  std::uint64_t last_write = 0;    ///< number of the last message that a flush waits for
  std::uint64_t last_flush = 0;    ///< number of the last message that requests an acknowledgement
  unsigned unflushed = 0;          ///< puts since the last flush
  bool flushes_each = false;       ///< the last flush had one put, so the next put requests its own acknowledgement
  std::uint64_t acknowledged = 0;  ///< all messages up to this one are delivered
  std::uint64_t ordered = 0;       ///< number of the last message before the last fence that applied to this peer
  std::uint32_t gets = 0;          ///< without a reply yet
  bool is_dirty = false;           ///< something was sent since the last flush of all
  std::uint64_t direct_issued = 0;
  std::uint64_t direct_flushed = 0;  ///< how many of direct_issued are known to be complete
  int rejected = 0;                  ///< errno of a message that the other PE could not deliver
  std::string rejection;
  std::vector<RemoteChunk> chunks;
  int direct_refused = 0;  ///< errno: its memory cannot be accessed directly

  std::uint64_t received = 0;  ///< number of the last message that was handled
  std::map<std::uint64_t, EarlyMessage> early;
  int undelivered = 0;  ///< errno of the first message that could not be delivered
  std::string why_undelivered;
};

}  // namespace gdrkit::shmem_impl::remote
