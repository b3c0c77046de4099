// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// BenchOptions: the command line of `gdrkit shmem bench`, checked.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/interface/common_options.hpp"
#include "transfer/shmem/bench/case.hpp"
#include "transfer/shmem/bench/peer_files.hpp"

namespace gdrkit::transfer::shmem {

struct BenchOptions {
  SizeRange sizes;
  std::vector<std::string> names;
  std::vector<std::string> peers;  ///< libraries
  PeerFiles files;
  std::string side;  ///< "all", or of cases
  cli::DocumentOption json;
  int n_pes = 2;
  int rounds = 21;
  int iterations = 0;
  int warmup = 0;
  int singles = 1000;
  int starts = 3;
  std::string compare_path;  ///< "": no comparison
  bool is_forced = false;
  bool is_brief = false;
  bool is_quiet = false;
  bool is_list = false;
  std::string worker;
  int channel = -1;

  [[nodiscard]] bool has_own_sizes() const;  ///< other sizes than by default
};

/// A value: end now with this code. Throws Failure(usage) with what is wrong and what can be done. Of a worker nothing
/// is checked.
[[nodiscard]] std::optional<cli::ExitCode> parse_bench_options(cli::Front front, int argc, char** argv,
                                                               BenchOptions* options);
/// Numbers of the selected cases that this number of PEs can run, in the order of cases.def.
[[nodiscard]] std::vector<std::size_t> chosen_cases(const BenchOptions& options);

}  // namespace gdrkit::transfer::shmem
