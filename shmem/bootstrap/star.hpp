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
#include "base/unique_fd.hpp"
#include "shmem/bootstrap/deadline.hpp"
#include "shmem/bootstrap/star_wire.hpp"

namespace gdrkit::shmem_impl::bootstrap {

/// All members except `position` are equal on all PEs. Position 0 is the centre.
struct StarGroup {
  int position = 0;
  std::vector<int> pes;  ///< the PE at each position, ascending
  int n_pes = 0;         ///< of the job; 0: the launcher reports that its PE at `position` has exited
  secret::Key secret{};
  std::string where;  ///< of the centre, for messages: "10.0.0.1:4711"
  std::chrono::milliseconds limit{};
  /// For a launcher whose PE at position 0 has exited: the first member that connects receives an error.
  bool is_over = false;
  /// For a member: introduce_member was already called on its connection.
  bool is_introduced = false;
  /// Returns whether the other end of a new connection may belong to the group: Linux reports a process of this user.
  /// The hello is then sufficient. nullptr: both ends must prove that they have the secret.
  bool (*is_trusted)(int socket) = nullptr;
};

/// One all-gather of the group.
struct StarStep {
  const char* name = "";
  const void* mine = nullptr;
  std::size_t size_bytes = 0;
  void* all = nullptr;                         ///< size_bytes for each position
  int fd = -1;                                 ///< sent to all others; the caller keeps it
  std::vector<base::UniqueFd>* fds = nullptr;  ///< by position; nullptr on all PEs: the step has no descriptors
};

class Star {
 public:
  virtual ~Star() = default;
  /// Ends within the group's limit. Members wait up to one second longer, so that the centre can name the missing PEs.
  /// If sizes or steps differ between PEs, all fail with EPROTO and the star can be used again. After any other failure
  /// every call fails with that error.
  [[nodiscard]] virtual base::Status allgather(const StarStep& step) noexcept = 0;
};

/// The error of a process that was forked from a PE: the connections belong to its parent.
[[nodiscard]] inline tl::unexpected<base::Error> fail_forked() noexcept {
  return base::fail_literal(EACCES,
                            "cannot use the PE of the parent process: this process is a forked child; call "
                            "gdrkit_shmem_init in this process first");
}

/// Closes `listener` once all members have connected. Rejects connections that do not prove the secret.
[[nodiscard]] base::Result<std::unique_ptr<Star>> make_star_centre(base::UniqueFd listener, StarGroup group) noexcept;

/// Makes a connection to the centre before the deadline.
using StarConnect = std::function<base::Result<base::UniqueFd>(const Deadline& deadline)>;
/// Sends this PE's number over a new connection. For PEs that connect before the group is known: if such a PE ends, the
/// centre can name it.
[[nodiscard]] base::Status introduce_member(int socket, const secret::Key& secret, int pe, int n_pes);

/// Connects again if the connection ends before the centre has replied: the other end may have been another program.
[[nodiscard]] base::Result<std::unique_ptr<Star>> make_star_member(const StarConnect& connect,
                                                                   StarGroup group) noexcept;

}  // namespace gdrkit::shmem_impl::bootstrap
