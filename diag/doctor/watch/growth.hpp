// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Growth: the differences of counters and links between two polls.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "diag/machine/counters.hpp"

namespace gdrkit::diag::doctor {

struct Grown {
  CounterName name;
  CounterKind kind;
  std::uint64_t by;
};

struct LinkChange {
  std::string address;
  PcieLink from;
  PcieLink to;
  bool is_worse;  ///< fewer lanes, or slower and not a GPU (idle GPUs slow down on purpose)
};

struct Growth {
  std::vector<Grown> grown;
  std::vector<CounterName> reset;  ///< smaller than before
  std::set<std::string> vanished;  ///< devices that have disappeared entirely
  std::vector<LinkChange> links;
  [[nodiscard]] bool is_empty() const noexcept {
    return grown.empty() && reset.empty() && vanished.empty() && links.empty();
  }
};

/// `gpus`: PCI addresses of the GPUs.
[[nodiscard]] Growth growth_between(const Counters& before, const Counters& after, const std::set<std::string>& gpus);

}  // namespace gdrkit::diag::doctor
