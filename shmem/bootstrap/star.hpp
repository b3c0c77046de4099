// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Star: an all-gather over one connection from each PE (member) to one of them (the centre).
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/star_wire.hpp"
#include "shmem/bootstrap/unique_fd.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// The same on all PEs but for `position`. Position 0 is the centre.
struct StarGroup {
  int position = 0;
  std::vector<int> pes;  ///< the PE at each position, ascending
  int n_pes = 0;         ///< of the whole job; 0: of a launcher that says that its PE at `position` has exited
  secret::Key secret{};
  std::string where;  ///< of the centre, for messages: "10.0.0.1:4711"
  std::chrono::milliseconds limit{};
  /// Of a launcher whose PE at position 0 has exited: the gathering fails for the first that comes.
  bool is_over = false;
  /// Of a member: its connection has seen introduce_member already.
  bool is_introduced = false;
  /// Whether the other end of a new connection may be one of the group: a process of this user, as Linux says. The
  /// hello is enough then. nullptr: both ends prove the secret.
  bool (*is_trusted)(int socket) = nullptr;
};

/// One step of the group's.
struct StarStep {
  const char* name = "";
  const void* mine = nullptr;
  std::size_t size_bytes = 0;
  void* all = nullptr;                   ///< size_bytes for each position
  int fd = -1;                           ///< goes to all others; stays the caller's
  std::vector<UniqueFd>* fds = nullptr;  ///< by position; nullptr on all PEs: the step has no descriptors
};

class Star {
 public:
  virtual ~Star() = default;
  /// Ends within the group's limit (members: and a second, so that the centre names who is missing). Sizes or steps
  /// that differ between PEs: EPROTO on all, and the star is as before. After any other failure it fails for ever, with
  /// that error.
  [[nodiscard]] virtual base::Status allgather(const StarStep& step) noexcept = 0;
};

/// Of a process that was forked from a PE: the connections are its parent's.
[[nodiscard]] inline tl::unexpected<base::Error> fail_forked() noexcept {
  return base::fail_literal(EACCES,
                            "this process was forked from a PE and is none itself: gdrkit_shmem_init makes it one");
}

/// `listener`: closed once all have come. What connects and does not know the secret is turned away.
[[nodiscard]] base::Result<std::unique_ptr<Star>> make_star_centre(UniqueFd listener, StarGroup group) noexcept;

/// Makes a connection to the centre before the deadline.
using StarConnect = std::function<base::Result<UniqueFd>(const Deadline& deadline)>;
/// Says over a new connection who this PE is. For those who connect before they know the rest of the group: if they
/// end, the centre sees who it was.
[[nodiscard]] base::Status introduce_member(int socket, const secret::Key& secret, int pe, int n_pes);

/// Connects again where the connection ends before the centre has answered: it may have been another program's.
[[nodiscard]] base::Result<std::unique_ptr<Star>> make_star_member(const StarConnect& connect,
                                                                   StarGroup group) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
