// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The machine's GPUs as NVML shows them, for checks of level probe.
#pragma once

#include <string>
#include <vector>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {

/// The GPUs that both PCI and NVML show. Adds findings if there are none, if NVML could not open some, or if NVML hides
/// some from this process. A container that was given some GPUs sees all of them in sysfs.
[[nodiscard]] std::vector<const NvmlGpu*> nvml_gpus_or_skip(const Machine& machine, Findings& findings);

/// The facts of the whole machine if it has a GPU; nullptr after adding a finding with the reason.
[[nodiscard]] const NvmlFacts* nvml_or_skip(const Machine& machine, Findings& findings);

/// Returns false after adding a finding for a missing fact. absent means that the GPU does not have the feature (skip,
/// with `what`).
template <class T>
[[nodiscard]] bool take(const std::string& subject, const topology::Fact<T>& fact, const char* what,
                        Findings& findings) {
  if (fact.is_absent()) findings.add(State::skip, subject, what);
  if (fact.is_unknown()) findings.add_unknown(subject, fact);
  return fact.is_found();
}

}  // namespace gdrkit::diag::doctor
