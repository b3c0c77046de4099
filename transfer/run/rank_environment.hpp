// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RankEnvironment: the variables by which the PEs of a job connect.
#pragma once

#include <string>
#include <vector>

namespace gdrkit::transfer::run {

class RankEnvironment {
 public:
  /// Opens a listening socket on the loopback for PE 0 if there are several PEs. Throws Failure(failed) if the system
  /// returns no random bytes.
  explicit RankEnvironment(int n_pes, bool is_emulated);
  RankEnvironment(const RankEnvironment&) = delete;
  RankEnvironment& operator=(const RankEnvironment&) = delete;
  ~RankEnvironment() { close_listener(); }

  /// This process's variables and those of the PE: "NAME=value".
  [[nodiscard]] std::vector<std::string> of(int pe) const;
  /// -1: none. Close-on-exec; PE 0's process clears the flag.
  [[nodiscard]] int listener() const noexcept { return listener_; }
  /// Call it once PE 0 has its copy.
  void close_listener() noexcept;
  [[nodiscard]] int n_pes() const noexcept { return n_pes_; }
  [[nodiscard]] const std::string& root() const noexcept { return root_; }  ///< address on which PE 0 listens; "": none
  [[nodiscard]] const std::string& token() const noexcept { return token_; }  ///< the secret of the job
  /// Why PEs have no address of PE 0; "" if they do.
  [[nodiscard]] const std::string& note() const noexcept { return note_; }

 private:
  bool listen_on_loopback(int family);

  int n_pes_;
  bool is_emulated_;
  int listener_ = -1;
  std::string root_;
  std::string token_;
  std::string note_;
};

}  // namespace gdrkit::transfer::run
