// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// What goes over the connections of a star. All of its PEs run the same release of this library on machines of the same
// byte order; the version refuses others.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "shmem/bootstrap/token.hpp"
#include "shmem/secret/blake2s.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// Of the handshake, which is the same in all versions.
inline constexpr char star_magic[8] = {'g', 'd', 'r', 'k', 's', 'h', '2', '\n'};
inline constexpr std::uint32_t star_version = 2;

/// A TCP connection begins with a Hello of the member, the Challenge of the centre, and the Proof of the member. Each
/// side proves that it knows the secret, which never travels, by a code over the nonces of both; the two codes have
/// keys of their own, so that neither can be sent back. No word of the other side counts before its code is right. It
/// protects against processes that connect or listen, not against those that can change the packets of others.
struct Hello {
  char magic[8] = {};
  std::uint32_t version = 0;
  std::uint32_t pe = 0;
  std::uint32_t n_pes = 0;  ///< of the job
  std::uint32_t reserved = 0;
  Token nonce{};  ///< between processes of one user: the name of the group
};
static_assert(sizeof(Hello) == 40);

struct Challenge {
  char magic[8] = {};
  Token nonce{};
  secret::Digest proof{};
};
static_assert(sizeof(Challenge) == 56);

[[nodiscard]] inline bool has_star_magic(const char (&magic)[8]) noexcept {
  return std::memcmp(magic, star_magic, sizeof star_magic) == 0;
}
/// Over a UNIX socket, whose ends are known to be of one user: tells groups apart, as the secret does elsewhere.
[[nodiscard]] inline Token group_name(const secret::Key& secret) noexcept {
  const secret::Key key = secret::derive_key(secret, "group");
  Token name;
  std::copy_n(key.begin(), name.size(), name.begin());
  return name;
}
[[nodiscard]] inline secret::Digest proof_of_centre(const secret::Key& secret, const Hello& hello,
                                                    const Token& nonce) noexcept {
  return secret::blake2s(secret::derive_key(secret, "centre"), {secret::bytes_of(hello), nonce});
}
[[nodiscard]] inline secret::Digest proof_of_member(const secret::Key& secret, const Hello& hello,
                                                    const Token& nonce) noexcept {
  return secret::blake2s(secret::derive_key(secret, "member"), {secret::bytes_of(hello), nonce});
}

/// welcome: the centre knows this member. go: all members came. part: from a member. all: every part, in order.
/// failure: from the centre, `size_bytes` of text follow.
enum class FrameKind : std::uint32_t { welcome = 1, go, part, all, failure };

inline constexpr std::uint32_t frame_has_fd = 1;     ///< part: a descriptor comes with its first byte
inline constexpr std::uint32_t frame_wants_fds = 2;  ///< part: the step has descriptors
inline constexpr std::uint32_t frame_is_final = 4;   ///< failure: the star is of no use any more
inline constexpr std::uint32_t frame_magic = 0x6d687367;

struct Frame {
  std::uint32_t magic = frame_magic;
  FrameKind kind = FrameKind::welcome;
  std::uint64_t size_bytes = 0;  ///< part: of it. all: of all parts
  std::int32_t error = 0;        ///< failure: an errno
  std::uint32_t flags = 0;
  char step[40] = {};  ///< ends with a NUL

  void set_step(const char* text) noexcept { std::strncpy(step, text, sizeof step - 1); }
  [[nodiscard]] bool is_sound() const noexcept { return magic == frame_magic && step[sizeof step - 1] == '\0'; }
};
static_assert(sizeof(Frame) == 64);

/// After the parts of an `all` with descriptors: one byte for each position, 1 where its PE sent a descriptor; then
/// messages of one byte with this many descriptors each, the receiver's own left out. Linux allows 253.
inline constexpr std::size_t fds_per_message = 250;

/// An errno that another process says it had: EPROTO if it is none.
[[nodiscard]] inline int errno_of_peer(std::int32_t said) noexcept { return said > 0 && said < 4096 ? said : EPROTO; }

}  // namespace gdrkit::shmem_impl::bootstrap
