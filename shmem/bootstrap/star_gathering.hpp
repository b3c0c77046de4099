// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// How the centre of a star accepts its members.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "shmem/bootstrap/private_fd.hpp"
#include "shmem/bootstrap/socket_io.hpp"
#include "shmem/bootstrap/star.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// One member, as the centre sees it.
struct StarPeer {
  PrivateFd socket;
  FrameCodes codes;
  // The incoming part.
  Frame frame;
  std::size_t read = 0;  ///< bytes of the frame and the part
  secret::Tag code{};    ///< of the part
  std::size_t read_of_code = 0;
  bool has_part = false;
  std::vector<base::UniqueFd> fds;
  std::vector<char> other;  ///< a part of another size than the centre's
  // The outgoing data.
  std::size_t written = 0;  ///< bytes of the frame, all parts and the marks of descriptors
  secret::Tag code_out{};   ///< of all parts
  bool has_code_out = false;
  std::size_t messages = 0;  ///< with descriptors
  bool has_all = false;
  IoEnd end = 0;  ///< why the connection ended; 0: it has not

  void begin_step() {
    frame = {};
    read = read_of_code = written = messages = 0;
    has_part = has_all = has_code_out = false;
    fds.clear();
    other.clear();
  }
};

/// Accepts members until `peers` is complete (one per position; the first stays empty). A failure is sent to the
/// members that have connected.
[[nodiscard]] base::Status accept_members(int listener, const StarGroup& group, std::vector<StarPeer>* peers);

/// Sends the failure to all connected members, without waiting. They read it before they report the end of the
/// connection.
void send_failure(const base::Error& error, bool is_final, std::vector<StarPeer>* peers) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
