// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The protocol on the connections of a star. All PEs run the same release of this library on machines of the same byte
// order; the centre rejects other versions.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "shmem/bootstrap/token.hpp"
#include "shmem/secret/blake2s.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// Magic of the handshake, which is the same in all versions.
inline constexpr char star_magic[8] = {'g', 'd', 'r', 'k', 's', 'h', '2', '\n'};
inline constexpr std::uint32_t star_version = 4;

/// A TCP connection begins with the Hello of the member, the Challenge of the centre, and the proof of the member. Each
/// side proves that it has the secret by a code over the nonces of both sides. The secret is never sent. The two
/// codes use different keys, so that neither side can send the other's code back. Neither side uses data of the other
/// before it has checked the code. Every later frame has an authentication code, too (FrameCode): a program that
/// relays the connection can read and delay the frames, but it cannot change or replay them.
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
/// Distinguishes groups on a UNIX socket, whose ends are known to belong to one user. On TCP, the secret does this.
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

/// welcome: the centre accepts this member. go: all members have joined. part: from a member. all: every part, in
/// order. failure: from the centre, `size_bytes` of text follow.
enum class FrameKind : std::uint32_t { welcome = 1, go, part, all, failure };

inline constexpr std::uint32_t frame_has_fd = 1;       ///< part: a descriptor is attached to its first byte
inline constexpr std::uint32_t frame_expects_fds = 2;  ///< part: the step has descriptors
inline constexpr std::uint32_t frame_is_final = 4;     ///< failure: the star is unusable
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

/// FrameCode: the authentication codes of all frames that go one way over a connection of a star.
///
/// On TCP, each payload is followed by the SipHash-2-4 of a counter, the frame and the payload. The key depends on the
/// connection and the direction, so a code is valid once. UNIX sockets have no codes, because Linux reports the user of
/// the other end.
class FrameCode {
 public:
  FrameCode() noexcept = default;  ///< no codes
  FrameCode(const secret::Key& secret, std::string_view direction, const Hello& hello, const Token& nonce) noexcept
      : has_key_(true) {
    const secret::Key key = secret::derive_key(secret, direction, {secret::bytes_of(hello), nonce});
    std::copy_n(key.begin(), key_.size(), key_.begin());
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return has_key_ ? sizeof(secret::Tag) : 0; }
  /// Of the next frame. Call it once for each frame that is sent or received.
  [[nodiscard]] secret::Tag next(const Frame& frame, secret::Bytes payload = {}) noexcept {
    if (!has_key_) return {};
    const struct {
      std::uint64_t count;
      Frame frame;
    } head{count_++, frame};
    return secret::siphash(key_, secret::bytes_of(head), payload);
  }

 private:
  bool has_key_ = false;
  secret::SipKey key_{};
  std::uint64_t count_ = 0;
};

/// Both ways of one connection.
struct FrameCodes {
  FrameCode to_centre;
  FrameCode to_member;

  FrameCodes() noexcept = default;
  FrameCodes(const secret::Key& secret, const Hello& hello, const Token& nonce) noexcept
      : to_centre(secret, "frames to the centre", hello, nonce),
        to_member(secret, "frames to a member", hello, nonce) {}
};

/// After the parts of an `all` with descriptors: one byte for each position, 1 where its PE sent a descriptor; then
/// messages of one byte with this many descriptors each, the receiver's own left out. Linux allows 253.
inline constexpr std::size_t fds_per_message = 250;

/// Ends the error of a wrong authentication code.
inline constexpr char remedy_of_wrong_code[] = "start the job with gdrkit run or a unique id";

/// Returns the errno that another process sent, or EPROTO if the number is not a valid errno.
[[nodiscard]] inline int errno_of_peer(std::int32_t number) noexcept {
  return number > 0 && number < 4096 ? number : EPROTO;
}

/// The result of a step of one PE, as it is sent to other PEs.
struct PeOutcome {
  std::int32_t errno_value = 0;  ///< 0: success
  std::int32_t vendor_code = 0;
  char text[240] = "";  ///< without a NUL if the sender is faulty

  PeOutcome() noexcept = default;
  explicit PeOutcome(const base::Status& done) noexcept {
    if (done) return;
    errno_value = done.error().errno_value;
    vendor_code = done.error().vendor_code;
    std::snprintf(text, sizeof text, "%s", done.error().text());
  }
};

/// Returns the error that PE `pe` sent. `what`: "PE 3" or "growing the heap failed on PE 3" begins the message.
[[nodiscard]] inline tl::unexpected<base::Error> fail_as(const PeOutcome& outcome, const std::string& what) {
  return base::fail_vendor(errno_of_peer(outcome.errno_value), outcome.vendor_code, "%s: %.*s", what.c_str(),
                           static_cast<int>(sizeof outcome.text), outcome.text);
}

}  // namespace gdrkit::shmem_impl::bootstrap
