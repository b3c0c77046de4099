// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Formats: a proposal as shells, configuration files and launchers take it.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "diag/doctor/check.hpp"
#include "diag/env/proposal.hpp"

namespace gdrkit::diag::env {

/// What is set already, as the doctor's group environment judges it.
struct Judged {
  std::string check;
  doctor::Finding finding;
};

struct Document {
  std::string root;
  Proposal proposal;
  std::vector<Judged> judged;  ///< findings that are not ok
};

/// Names of formats, json apart.
[[nodiscard]] std::vector<std::string> format_names();
/// Throws Failure(usage) for a file of another library.
void print_as(const std::string& format_name, const Document& document);
/// Where --json says.
void write_env_json(const cli::DocumentOption& option, const Document& document);

/// "0x3ffc000...": the mask of CPUs as srun takes it.
[[nodiscard]] std::string mask_of(const std::vector<int>& cpus);

}  // namespace gdrkit::diag::env
