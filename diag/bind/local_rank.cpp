// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/bind/local_rank.hpp"

#include <charconv>

#include "cli/interface/exit_code.hpp"
#include "diag/machine/variables.hpp"

namespace gdrkit::diag::bind {

LocalRank find_local_rank(const Lookup& lookup) {
  LocalRank rank;
  std::string first;
  for (const char* name : local_rank_variables) {
    const auto text = lookup(name);
    if (!text || text->empty()) continue;
    if (rank.variable.empty()) {
      rank.variable = name;
      first = *text;
    } else if (*text != first) {
      rank.others.push_back(std::string(name) + "=" + *text);
    }
  }
  if (rank.variable.empty()) {
    std::string names;
    for (const char* name : local_rank_variables) names += std::string(names.empty() ? "" : ", ") + name;
    cli::reject("gdrkit bind: cannot find the local rank: none of " + names +
                " is set; start gdrkit bind with mpirun, srun or torchrun, or choose the GPU with --gpu N");
  }
  const auto [stop, error] = std::from_chars(first.data(), first.data() + first.size(), rank.value);
  if (error != std::errc() || stop != first.data() + first.size()) {
    cli::reject("gdrkit bind: " + rank.variable + "='" + first +
                "' is not a rank; set it to 0 or a greater number, or use --gpu N");
  }
  return rank;
}

}  // namespace gdrkit::diag::bind
