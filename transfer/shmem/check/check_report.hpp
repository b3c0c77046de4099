// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CheckReport: what `gdrkit shmem check` found, of all PEs.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "platform/facts/machine.hpp"
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {

/// One check on all PEs.
struct CheckSummary {
  const Check* check = nullptr;
  std::uint64_t operations = 0;    ///< on all PEs
  std::uint64_t failures = 0;      ///< on all PEs
  std::uint64_t duration_us = 0;   ///< on the slowest PE
  std::vector<std::string> texts;  ///< "PE 1: what failed", a few of each PE
};

struct CheckReport {
  int n_pes = 1;
  bool is_emulated = false;
  platform::Machine machine;
  std::vector<CheckSummary> checks;
  [[nodiscard]] bool is_ok() const;
};

/// `results`: of every PE in turn.
[[nodiscard]] CheckSummary summarise(const Check& check, const std::vector<CheckResult>& results);
void print_check_head(const CheckReport& report);
void print_check(const CheckSummary& summary);
void print_check_end(const CheckReport& report);
void write_check_json(const cli::DocumentOption& option, const CheckReport& report);

}  // namespace gdrkit::transfer::shmem
