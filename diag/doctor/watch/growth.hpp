// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Growth: what counters and links differ by between two looks.
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
  bool is_worse;  ///< fewer lanes, or slower and no GPU (idle ones slow down on purpose)
};

struct Growth {
  std::vector<Grown> grown;
  std::vector<CounterName> reset;  ///< smaller than before
  std::set<std::string> vanished;  ///< devices of which nothing is left
  std::vector<LinkChange> links;
  [[nodiscard]] bool is_empty() const noexcept {
    return grown.empty() && reset.empty() && vanished.empty() && links.empty();
  }
};

/// `gpus`: PCI addresses of the GPUs.
[[nodiscard]] Growth growth_between(const Counters& before, const Counters& after, const std::set<std::string>& gpus);

}  // namespace gdrkit::diag::doctor
