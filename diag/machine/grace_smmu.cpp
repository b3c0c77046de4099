// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/grace_smmu.hpp"

#include "diag/machine/acs.hpp"
#include "diag/machine/data_direct.hpp"
#include "diag/machine/linux_version.hpp"

namespace gdrkit::diag {

Fact<bool> needs_translation(const MachineView& view) {
  const auto grace = is_grace(view);
  if (!grace.is_found() || !grace.value) return grace;
  const auto version = read_linux_version(view);
  const bool is_old = version.value.major < 6 || (version.value.major == 6 && version.value.minor < 11);
  return {version.outcome, !version.is_found() || is_old, version.reason};
}

/// pci_enable_pasid in Linux requires request redirection and upstream forwarding on every port. The ports of a switch
/// have both or neither.
Fact<bool> has_pasid_path(const MachineView& view, const PciDevice& gpu) {
  constexpr std::uint32_t needed = acs_request_redirect | acs_upstream_forwarding;
  if (gpu.bridges.empty()) return {Outcome::unreadable, false, "the PCIe ports above the GPU are unknown"};
  for (const std::string& port : {gpu.bridges.front(), gpu.bridges.back()}) {
    const auto acs = read_acs(view, port);
    if (acs.is_unknown()) return {acs.outcome, false, port + ": " + acs.reason};
    if (acs.is_absent() || (acs.value.set & needed) != needed) return {Outcome::found, false, port};
  }
  return {Outcome::found, true, gpu.bridges.back()};
}

}  // namespace gdrkit::diag
