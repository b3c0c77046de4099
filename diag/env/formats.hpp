// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Formats: a proposal as input for shells, configuration files and launchers.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "diag/doctor/check.hpp"
#include "diag/env/proposal.hpp"

namespace gdrkit::diag::env {

/// The current settings, as judged by the doctor's group environment.
struct Judged {
  std::string check;
  doctor::Finding finding;
};

struct Document {
  std::string root;
  Proposal proposal;
  std::vector<Judged> judged;  ///< findings that are not ok
};

/// Names of formats, except json.
[[nodiscard]] std::vector<std::string> format_names();
/// Throws Failure(usage) for a file of another library.
void print_as(const std::string& format_name, const Document& document);
/// Writes to the destination of --json.
void write_env_json(const cli::DocumentOption& option, const Document& document);

/// "0x3ffc000...": the mask of CPUs for srun.
[[nodiscard]] std::string mask_of(const std::vector<int>& cpus);

}  // namespace gdrkit::diag::env
