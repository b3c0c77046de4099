// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Counters: the counters of adapters and PCIe links, and the speed and width of links, at one point in time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

enum class CounterKind { error, stress, traffic };
[[nodiscard]] const char* name_of(CounterKind kind);

struct CounterName {
  std::string device;  ///< mlx5_0, or a PCI address
  std::string port;    ///< of an adapter; "" for a PCI function
  std::string counter;

  auto operator<=>(const CounterName&) const = default;
};

struct Counter {
  CounterKind kind = CounterKind::error;
  std::uint64_t value = 0;
};

struct PcieLink {
  std::string speed;  ///< "16.0 GT/s PCIe"
  std::string width;  ///< "16"

  bool operator==(const PcieLink&) const = default;
};

struct Counters {
  std::map<CounterName, Counter> counters;
  std::map<std::string, PcieLink> links;            ///< by PCI address, of GPUs and adapters
  std::map<std::string, std::string> not_readable;  ///< path to reason; absent files are not listed
};

/// Counters of adapter ports (port_counters.def); AER totals of GPUs, adapters and the ports directly above them; their
/// links.
[[nodiscard]] Counters read_counters(const Machine& machine);

}  // namespace gdrkit::diag
