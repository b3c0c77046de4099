// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Proposal: the settings that a library needs on this machine, each with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/interface/wrapped_text.hpp"
#include "diag/machine/environment.hpp"
#include "diag/machine/libraries.hpp"
#include "diag/machine/machine.hpp"
#include "diag/machine/rank_layout.hpp"

namespace gdrkit::diag::env {

using cli::joined;

struct ProposedSetting {
  std::string name;
  std::string value;
  std::string reason;                ///< a sentence
  std::vector<std::string> because;  ///< checks of the doctor that report the same fact
  bool is_set = false;               ///< already set to this value
};

/// A process for each GPU: where it runs, and its own settings.
struct ProposedRank {
  RankPlace place;
  std::string gpu;      ///< GPU0
  std::string address;  ///< 0000:3b:00.0
  std::string adapter;  ///< mlx5_0:1; "" if there is none
  std::map<std::string, std::string> settings;
};

struct Proposal {
  std::vector<CommLibrary> libraries;
  std::vector<ProposedSetting> job;  ///< the same for every process

  [[nodiscard]] bool is_for(CommLibrary library) const;
  /// "nccl,ucx"
  [[nodiscard]] std::string library_names() const;
  std::string rank_reason;  ///< of the settings in `ranks`; "" if there are none
  std::vector<ProposedRank> ranks;
  std::vector<std::string> notes;  ///< facts to consider or measure before adding settings
  std::uint64_t matching = 0;      ///< Matching::hash
};

/// Options about the network and the program, which gdrkit cannot detect.
struct UserOptions {
  std::string fabric;      ///< "rail", "ecmp" or ""
  bool is_strict = false;  ///< an error is better than a slower path
};

/// Input of the rules.
struct Facts {
  const Machine& machine;
  const Environment& environment;
  const Libraries& libraries;
  const RankLayout& layout;
  const UserOptions& user_options;

  std::vector<std::size_t> chosen;  ///< adapters for GPUs' traffic, in PCI order
  std::vector<std::string>
      left_out;  ///< active adapters that are not chosen, with the reason; empty while one is unread
};

/// Chooses the adapters: all usable ones, except those without a matched GPU that are slower than the matched ones or
/// on another network.
[[nodiscard]] Facts gather(const Machine& machine, const Environment& environment, const Libraries& libraries,
                           const RankLayout& layout, const UserOptions& user_options);

/// One proposal for all libraries: a setting, note or reason that several share occurs once.
[[nodiscard]] Proposal propose(const std::vector<CommLibrary>& libraries, const Facts& facts);

/// One function per library; each appends to the proposal.
void propose_nccl(const Facts& facts, Proposal* proposal);
void propose_ucx(const Facts& facts, Proposal* proposal);
void propose_nvshmem(const Facts& facts, Proposal* proposal);
void propose_openmpi(const Facts& facts, Proposal* proposal);
void propose_mvapich2(const Facts& facts, Proposal* proposal);

/// True for letters, digits and .:_-+ only: every shell, file and launcher takes such a device name literally.
[[nodiscard]] bool is_plain(const std::string& name);
/// "mlx5_0:1"
[[nodiscard]] std::vector<std::string> devices_of(const Facts& facts);

}  // namespace gdrkit::diag::env
