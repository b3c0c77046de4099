// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// DataDirect: functions of ConnectX-8 adapters that reach a GPU through a dedicated switch and bypass the Grace
// processor.
#pragma once

#include <string>
#include <vector>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag {

struct DataDirect {
  PciDevice function;
  PciDevice gpu;              ///< address "" unless exactly one GPU is below the same root port
  std::string root;           ///< the root port of both
  std::string function_port;  ///< the port of the shared switch that leads to the function,
  std::string gpu_port;       ///< and to the GPU; "" if they share no switch
};

/// All of the machine, in PCI order. Not found: a device of the list could not be read.
[[nodiscard]] Fact<std::vector<DataDirect>> find_data_direct(const Machine& machine);

/// Whether this is the processor for which the redirection pattern is known.
[[nodiscard]] Fact<bool> is_grace(const MachineView& view);

}  // namespace gdrkit::diag
