// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Causes: the findings that rule out direct access between a GPU and an adapter, or slow it down.
#pragma once

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

class Causes {
 public:
  Causes(const Examination& examination, const Machine& machine);

  /// Failures that make direct access impossible, even if the library detects it.
  [[nodiscard]] std::vector<Cause> blocking(const PairNames& pair) const { return find(blocking_, pair); }
  /// Failures that make a peer-memory module useless.
  [[nodiscard]] std::vector<Cause> against_peer_memory(const PairNames& pair) const { return find(peer_memory_, pair); }
  /// Failures that explain why a library does not try.
  [[nodiscard]] std::vector<Cause> explaining(const PairNames& pair) const { return find(explaining_, pair); }
  /// Warnings and failures that reduce speed.
  [[nodiscard]] std::vector<Cause> slowing(const PairNames& pair) const { return find(slowing_, pair); }
  /// Entries of ports that redirect packets, on the path of `pair`.
  [[nodiscard]] std::vector<Cause> redirecting(const PairNames& pair) const { return find(redirecting_, pair); }
  /// Failures that prevent gdrkit from mapping the GPU.
  [[nodiscard]] std::vector<Cause> against_mapping(const PairNames& gpu) const { return find(mapping_, gpu); }
  /// Failures that prevent two GPUs from accessing each other.
  [[nodiscard]] std::vector<Cause> against_peers(const PairNames& pair) const { return find(peers_, pair); }
  /// Warnings and failures that reduce speed between two GPUs on PCIe.
  [[nodiscard]] std::vector<Cause> slowing_peers(const PairNames& pair) const { return find(slowing_peers_, pair); }
  /// The worst state of a check's findings; skip if it has none.
  [[nodiscard]] State state_of(const char* id) const;
  [[nodiscard]] std::string text_of(const char* id) const;

 private:
  struct Entry {
    const char* id;
    Finding finding;
  };
  [[nodiscard]] std::vector<Entry> entries(const Examination& examination, std::initializer_list<const char*> ids,
                                           State least) const;
  [[nodiscard]] std::vector<Cause> find(const std::vector<Entry>& entries, const PairNames& pair) const;

  const Examination& examination_;
  std::set<std::string>
      objects_;  ///< names of all devices and libraries: a finding on one of them does not concern others
  std::vector<Entry> blocking_, peer_memory_, explaining_, slowing_, redirecting_, mapping_, peers_, slowing_peers_;
};

}  // namespace gdrkit::diag::doctor
