// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DataDirect: functions of ConnectX-8 adapters that reach a GPU by a switch of their own, beside a Grace processor.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

struct DataDirect {
  PciDevice function;
  PciDevice gpu;              ///< address "" when there is not exactly one GPU below the same root port
  std::string root;           ///< the root port of both
  std::string function_port;  ///< the ports of the shared switch: to the function,
  std::string gpu_port;       ///< and to the GPU; "" when they share no switch
};

/// All of the machine, in PCI order. Not found: a device of the list could not be read.
[[nodiscard]] Fact<std::vector<DataDirect>> find_data_direct(const Machine& machine);

/// Whether the processor is the one for which the pattern of redirection is known.
[[nodiscard]] Fact<bool> is_grace(const MachineView& view);

}  // namespace gdrkit::diag
