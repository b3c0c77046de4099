// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// HostFacts: a description of the examined machine for the head of an output.
#pragma once

#include <string>

#include "diag/machine/machine.hpp"

namespace gdrkit::diag::doctor {

/// All in printable ASCII; "" if the machine does not report it.
struct HostFacts {
  std::string name;
  std::string distribution;  ///< "Ubuntu 24.04.1 LTS"
  std::string linux_version;
  std::string gpus;      ///< "8 NVIDIA GPUs: 8 x NVIDIA H100 80GB HBM3"
  std::string adapters;  ///< "2 RDMA adapters: 2 x MT4129"
};

[[nodiscard]] HostFacts read_host_facts(const Machine& machine);

}  // namespace gdrkit::diag::doctor
