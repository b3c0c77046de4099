// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/remote/message.hpp"

#include <array>
#include <cstring>

namespace gdrkit::shmem_impl::remote {
namespace {

/// Limit of the data of one allgather: enough for all PEs of a large job.
constexpr std::uint64_t most_allgather_bytes = std::uint64_t{1} << 30;

/// What all blocks begin with. Both sides are little-endian 64-bit Linux.
struct Prefix {
  std::uint64_t tag = 0;
  RemoteMessageKind kind{};
  std::uint8_t operation = 0;
  std::uint8_t word_bytes = 0;
  std::uint8_t fields = 0;  ///< bit i: field i follows
  std::int32_t from = 0;
};
static_assert(sizeof(Prefix) == 16);

/// The fields that are left out where they are 0, in the order of their bits.
using Fields = std::array<std::uint64_t, 7>;
static_assert(sizeof(Prefix) + sizeof(Fields) == longest_header_bytes);

bool is_errno_or_0(std::int32_t number) noexcept { return number >= 0 && number < 4096; }

std::uint64_t tag_of(const secret::SipKey& key, secret::Bytes block) noexcept {
  return secret::siphash_64(key, block.subspan(sizeof(Prefix::tag)));
}

}  // namespace

std::size_t write_header(const RemoteMessage& message, std::uint8_t* block) noexcept {
  Prefix prefix{0, message.kind, message.operation, message.word_bytes, 0, message.from};
  const Fields fields{message.number,
                      message.request,
                      message.offset,
                      message.size_bytes,
                      message.operand,
                      message.compare,
                      static_cast<std::uint32_t>(message.other)};
  std::size_t size_bytes = sizeof prefix;
  unsigned bit = 1;
  for (const std::uint64_t field : fields) {
    std::memcpy(block + size_bytes, &field, sizeof field);
    if (field != 0) {
      size_bytes += sizeof field;
      prefix.fields = static_cast<std::uint8_t>(prefix.fields | bit);
    }
    bit <<= 1;
  }
  std::memcpy(block, &prefix, sizeof prefix);
  return size_bytes;
}

void write_tag(const secret::SipKey& key, std::span<std::uint8_t> block) noexcept {
  const std::uint64_t tag = tag_of(key, block);
  std::memcpy(block.data(), &tag, sizeof tag);
}

bool has_right_tag(const secret::SipKey& key, const DecodedMessage& decoded) noexcept {
  std::uint64_t tag;
  std::memcpy(&tag, decoded.block.data(), sizeof tag);
  return tag == tag_of(key, decoded.block);
}

std::optional<DecodedMessage> decode_message(secret::Bytes block, secret::Bytes data, int own_pe, int n_pes) noexcept {
  Prefix prefix;
  if (block.size() < sizeof prefix) return std::nullopt;
  std::memcpy(&prefix, block.data(), sizeof prefix);
  if (prefix.from < 0 || prefix.from >= n_pes || prefix.from == own_pe) return std::nullopt;
  secret::Bytes rest = block.subspan(sizeof prefix);
  Fields fields{};
  if (prefix.fields >> fields.size() != 0) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if ((prefix.fields >> i & 1) == 0) continue;
    if (rest.size() < sizeof fields[i]) return std::nullopt;
    std::memcpy(&fields[i], rest.data(), sizeof fields[i]);
    rest = rest.subspan(sizeof fields[i]);
  }
  DecodedMessage decoded;
  decoded.message = {
      prefix.kind, prefix.operation, prefix.word_bytes, prefix.from, static_cast<std::int32_t>(fields[6]),
      fields[0],   fields[1],        fields[2],         fields[3],   fields[4],
      fields[5]};
  decoded.block = block;
  if (!rest.empty() && !data.empty()) return std::nullopt;
  decoded.is_data_in_block = data.empty();
  decoded.data = data.empty() ? rest : data;
  if (decoded.data.size() > longest_piece_bytes) return std::nullopt;
  return decoded;
}

bool has_sound_fields(const DecodedMessage& decoded, int n_pes) noexcept {
  const RemoteMessage& message = decoded.message;
  const std::size_t bytes = decoded.data.size();
  const bool is_failure = message.other != 0 && is_errno_or_0(message.other);
  switch (message.kind) {
    case RemoteMessageKind::put:
      return message.number != 0 && message.operation <= put_and_flush &&
             message.size_bytes == (decoded.is_data_in_block ? 0 : bytes);
    case RemoteMessageKind::get:
      return message.number != 0 && message.request != 0 && bytes == 0 && message.size_bytes != 0 &&
             message.size_bytes <= longest_piece_bytes;
    case RemoteMessageKind::update:
      return message.number != 0 && bytes == 0 && (message.word_bytes == 4 || message.word_bytes == 8);
    case RemoteMessageKind::flush: return message.number != 0 && bytes == 0;
    case RemoteMessageKind::allgather:
      return message.number != 0 && message.size_bytes <= most_allgather_bytes &&
             message.compare <= message.size_bytes && bytes <= message.size_bytes - message.compare;
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
