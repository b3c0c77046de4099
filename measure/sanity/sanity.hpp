// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Sanity: types and functions that the front ends of the subcommand share.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "measure/sanity/isolated_run.hpp"
#include "measure/sanity/sanity_test.hpp"
#include "platform/facts/machine.hpp"

namespace gdrkit::measure::sanity {

struct SanityOptions {
  cli::CommonOptions common;
  bool is_verbose = false;
  bool without_summary = false;
  bool is_list = false;
  bool with_extended = false;
  std::vector<std::string> names;
  int limit_seconds = 60;
};

struct Result {
  SanityTest test;
  Outcome outcome;
};

struct SanityReport {
  bool is_emulated = false;
  platform::Machine machine;
  std::string backend;
  std::vector<Result> results;

  [[nodiscard]] std::size_t count(Verdict verdict) const;
};

/// Writes to the destination of --json.
void write_sanity_json(const SanityOptions& options, const SanityReport& report);

}  // namespace gdrkit::measure::sanity
