// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NcclRank: one rank of an installed NCCL, for every suite that measures it.
#pragma once

#include <string>

#include "platform/vendor/nccl_library.hpp"
#include "transfer/engines/collective_engine.hpp"

namespace gdrkit::transfer::engines {

/// For example "2.28.9".
[[nodiscard]] std::string nccl_version_text(const platform::NcclCalls& calls);

/// Functions throw Failure with NCCL's error message.
class NcclRank {
 public:
  /// Error messages begin with `who` and end with `remedy`.
  NcclRank(const platform::NcclCalls& calls, std::string who, const char* remedy);

  [[nodiscard]] platform::NcclUniqueId make_id() const;
  /// Collective over all ranks. A process with several ranks calls it between begin_group and end_group.
  void join(const platform::NcclUniqueId& id, int rank, int n_ranks);
  void leave();

  void begin_group() const { require(calls_->group_start(), "ncclGroupStart"); }
  void end_group() const { require(calls_->group_end(), "ncclGroupEnd"); }
  void enqueue(const Call& call, void* stream) const;
  /// Throws if an operation on a stream has failed.
  void check() const;

  void require(int result, const char* what) const;
  [[nodiscard]] platform::NcclComm* communicator() const noexcept { return communicator_; }

 private:
  void send_and_receive(const Call& call, void* stream) const;

  const platform::NcclCalls* calls_;
  std::string who_;
  const char* remedy_;
  platform::NcclComm* communicator_ = nullptr;
  int rank_ = 0;
  int n_ranks_ = 1;
};

}  // namespace gdrkit::transfer::engines
