// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The machine's GPUs as NVML shows them, for checks of level probe.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {

/// The GPUs that both PCI and NVML show. Says why there are none, which of them NVML could not open, and how many it
/// does not show to this process: a container that was given some of them sees all in sysfs.
[[nodiscard]] std::vector<const NvmlGpu*> nvml_gpus_or_skip(const Machine& machine, Findings& findings);

/// The facts of the whole machine where there is a GPU; nullptr after saying why not.
[[nodiscard]] const NvmlFacts* nvml_or_skip(const Machine& machine, Findings& findings);

/// False after a finding for a fact that is not there: absent means that the GPU has no such thing (skip, with `what`).
template <class T>
[[nodiscard]] bool take(const std::string& subject, const topology::Fact<T>& fact, const char* what,
                        Findings& findings) {
  if (fact.is_absent()) findings.add(State::skip, subject, what);
  if (fact.is_unknown()) findings.add_unknown(subject, fact);
  return fact.is_found();
}

}  // namespace gdrkit::diag::doctor
