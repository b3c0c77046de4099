// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Options: nccl-tests' options, and our additions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/interface/command_line.hpp"
#include "transfer/engines/collective.hpp"
#include "transfer/report/document_options.hpp"

namespace gdrkit::transfer::nccl {

struct Options : report::DocumentOptions {
  std::vector<std::string> words;  ///< the test's name
  std::size_t smallest_bytes = 32UL << 20;
  std::size_t largest_bytes = 32UL << 20;
  std::size_t step_bytes = 1UL << 20;
  int factor = 1;
  int gpus = 1;
  int iterations = 20;
  int warmup = 1;
  int aggregated = 1;
  int cycles = 1;
  int check = 1;
  int root = 0;
  int blocking = 0;
  int cpu_time = 0;
  int average = 1;
  std::string doctor_root = "/";
  int timeout_s = 300;
  std::string type = "float";
  std::string reduction = "sum";
  std::string engine = "nccl";
  std::string library;
  int registered = 0;  ///< an engines::Registration

  /// In the order of the table.
  [[nodiscard]] std::vector<std::size_t> sizes() const;
};

[[nodiscard]] cli::CommandLine command_line(Options* options);
/// Throws Failure(usage).
void check(const Options& options);
[[nodiscard]] const engines::Collective& chosen_collective(const Options& options);
/// The result has several elements for `-d all` and `-o all`.
[[nodiscard]] std::vector<const engines::ElementType*> chosen_types(const Options& options);
[[nodiscard]] std::vector<const engines::Reduction*> chosen_reductions(const Options& options,
                                                                       const engines::Collective& collective);

}  // namespace gdrkit::transfer::nccl
