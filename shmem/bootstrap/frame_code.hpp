// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// FrameCode: the authentication codes of all frames that go one way over a connection of a star.
#pragma once

#include <array>
#include <string_view>

#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/secret/siphash.hpp"

namespace gdrkit::shmem_impl::bootstrap {

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

}  // namespace gdrkit::shmem_impl::bootstrap
