// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Binding: the choices for the process, for --print, --dry-run and --json.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "diag/machine/rank_layout.hpp"

namespace gdrkit::diag::bind {

struct Binding {
  const std::string& root;
  const RankLayout& layout;
  const RankPlace& place;
  std::string chosen_by;   ///< "LOCAL_RANK=3", "--gpu"
  std::string ucx_device;  ///< the value of UCX_NET_DEVICES; "": not set
  const std::vector<std::string>& program;
};

/// Schema gdrkit.bind/1: diag/bind/README.md.
void write_bind_json(const cli::DocumentOption& option, const Binding& binding);

}  // namespace gdrkit::diag::bind
