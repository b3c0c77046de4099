// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Examination: which checks run, what they found, and the exit code.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {

struct Selection {
  Level level = Level::quick;
  std::vector<std::string>
      only;  ///< IDs, groups, parts of IDs before the dot, or ID prefixes with a final *; empty: all
  std::vector<std::string> skip;
};

struct CheckResult {
  const Check* check;
  std::vector<Finding> findings;
  /// The state of the worst finding; skip if there is none.
  [[nodiscard]] State worst() const;
};

struct Examination {
  std::string root;
  Level level = Level::quick;
  std::size_t pci_count = 0;
  std::size_t gpu_count = 0;
  std::size_t adapter_count = 0;
  std::vector<CheckResult> results;
  std::vector<const Check*> not_run;  ///< selected, but require level probe on this live machine
  std::array<unsigned, 6> counts{};   ///< findings by State
  cli::ExitCode code = cli::ExitCode::ok;
};

/// Throws Failure(usage) if no check has this ID.
[[nodiscard]] const Check& check_named(const std::string& id);
/// Throws Failure(usage) if a word matches no check.
[[nodiscard]] std::vector<const Check*> select(const Selection& selection);
/// Throws Failure(usage) if a word of `only` matches only checks that require level probe on this live machine.
void refuse_without_probe(const Selection& selection, const MachineView& view);
/// `machine` was gathered at `level`. is_strict: a warning counts as a failure, and every unknown counts as one of a
/// required check.
[[nodiscard]] Examination examine(const Machine& machine, const std::string& root,
                                  const std::vector<const Check*>& checks, Level level, bool is_strict);
/// "needs root; needs no reboot; does not survive a boot"
[[nodiscard]] std::string conditions_of(const Remedy& remedy);
struct Verdicts;
/// `verdicts` may be nullptr. Writes the documents to the destination of --json.
void write_examination_json(const cli::DocumentOption& option, const Examination& examination,
                            const Verdicts* verdicts);
void write_list_json(const cli::DocumentOption& option);
void write_explanation_json(const cli::DocumentOption& option, const Check& check);
/// Prometheus' text format: a series for each check, and the machine's counters.
void print_examination_prom(const Examination& examination, const Machine& machine);

}  // namespace gdrkit::diag::doctor
