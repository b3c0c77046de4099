// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Causes: the findings that rule out direct access between a GPU and an adapter, or slow it down.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "diag/doctor/examination.hpp"

namespace gdrkit::diag::doctor {

/// All names by which a finding may refer to one of a pair's objects.
struct PairNames {
  const char* library;  ///< "NCCL"
  std::set<std::string> own;
};

struct Cause {
  const char* id;
  std::string text;
};

enum class Effect {
  blocks,                 ///< failures that make direct access impossible, even if the library detects it
  rules_out_peer_memory,  ///< failures that make a peer-memory module useless
  explains,               ///< failures that explain why a library does not try
  slows,                  ///< warnings and failures that reduce speed
  redirects,              ///< entries of ports that redirect packets, on the path of the pair
  rules_out_mapping,      ///< failures that prevent gdrkit from mapping the GPU
  blocks_peers,           ///< failures that prevent two GPUs from accessing each other
  slows_peers,            ///< warnings and failures that reduce speed between two GPUs on PCIe
};

class Causes {
 public:
  Causes(const Examination& examination, const Machine& machine);

  [[nodiscard]] std::vector<Cause> with(Effect effect, const PairNames& pair) const;
  /// The worst state of a check's findings; skip if it has none.
  [[nodiscard]] State state_of(const char* id) const;
  [[nodiscard]] std::string text_of(const char* id) const;

 private:
  struct Entry {
    const char* id;
    Finding finding;
  };
  [[nodiscard]] const CheckResult* result_of(const char* id) const;

  const Examination& examination_;
  /// Names of all devices and libraries: a finding on one of them does not concern others.
  std::set<std::string> objects_;
  std::map<Effect, std::vector<Entry>> entries_;
};

}  // namespace gdrkit::diag::doctor
