// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/decoded_message.hpp"

#include <cstring>

namespace gdrkit::shmem_impl::remote {
namespace {

/// Limit of the data of one meeting: enough for all PEs of a large job.
constexpr std::uint64_t most_said_bytes = std::uint64_t{1} << 30;

bool is_errno_or_0(std::int32_t number) noexcept { return number >= 0 && number < 4096; }

}  // namespace

std::optional<DecodedMessage> decode_message(secret::Bytes header, secret::Bytes data, int own_pe, int n_pes) noexcept {
  DecodedMessage decoded;
  RemoteMessage& message = decoded.message;
  if (header.size() < sizeof message) return std::nullopt;
  std::memcpy(&message, header.data(), sizeof message);
  if (message.magic != RemoteMessage::right_magic) return std::nullopt;
  if (message.from < 0 || message.from >= n_pes || message.from == own_pe) return std::nullopt;
  decoded.in_one_block = header.subspan(sizeof message);
  if (!decoded.in_one_block.empty() && !data.empty()) return std::nullopt;
  decoded.data = data.empty() ? decoded.in_one_block : data;
  if (decoded.data.size() > longest_piece_bytes) return std::nullopt;
  return decoded;
}

bool has_sound_fields(const DecodedMessage& decoded, int n_pes) noexcept {
  const RemoteMessage& message = decoded.message;
  const std::size_t bytes = decoded.data.size();
  const bool is_failure = message.other != 0 && is_errno_or_0(message.other);
  switch (message.kind) {
    case RemoteMessageKind::put: return message.number != 0 && message.size_bytes == bytes;
    case RemoteMessageKind::get:
      return message.number != 0 && message.request != 0 && bytes == 0 && message.size_bytes != 0 &&
             message.size_bytes <= longest_piece_bytes;
    case RemoteMessageKind::update:
      return message.number != 0 && bytes == 0 && (message.word_bytes == 4 || message.word_bytes == 8);
    case RemoteMessageKind::flush: return message.number != 0 && bytes == 0;
    case RemoteMessageKind::say:
      return message.number != 0 && message.size_bytes <= most_said_bytes && message.compare <= message.size_bytes &&
             bytes <= message.size_bytes - message.compare;
    case RemoteMessageKind::key_request: return message.number != 0 && message.request != 0 && bytes == 0;
    case RemoteMessageKind::data: return is_failure || (message.other == 0 && message.size_bytes == bytes);
    case RemoteMessageKind::key:
      return is_failure ||
             (message.other == 0 && message.size_bytes != 0 && message.offset + message.size_bytes > message.offset &&
              message.operand + message.size_bytes > message.operand);
    case RemoteMessageKind::value:
    case RemoteMessageKind::acknowledge: return is_errno_or_0(message.other);
    case RemoteMessageKind::heartbeat: return bytes == 0;
    case RemoteMessageKind::death: return message.other >= 0 && message.other < n_pes;
  }
  return false;
}

}  // namespace gdrkit::shmem_impl::remote
