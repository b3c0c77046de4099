// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The outputs of `gdrkit topo`, each written to stdout.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "cli/interface/exit_code.hpp"
#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::topo {

void print_text(const TopologyFacts& facts, const std::vector<Viewer>& libraries);
/// Writes to the destination of --json.
void write_topology_json(const cli::DocumentOption& option, const TopologyFacts& facts, cli::ExitCode code);

/// "PIX", "NV18", "?".
[[nodiscard]] std::string cell_of(Viewer viewer, const topology::Distance& distance);
void print_dot(const TopologyFacts& facts);
void print_svg(const TopologyFacts& facts);
/// Throws Failure(unreadable) if a device's place is unknown.
void print_nccl_xml(const TopologyFacts& facts, const MachineView& view, const topology::Fact<NvmlFacts>& nvml);
/// Throws Failure(bad_recording) if the file is not an NCCL topology.
[[nodiscard]] TopologyFacts read_nccl_file(const std::string& path);

[[nodiscard]] std::string hash_text(const TopologyFacts& facts);
/// Sentences on devices that were not found or could not be read, one per line.
[[nodiscard]] std::string what_is_missing(const TopologyFacts& facts);

}  // namespace gdrkit::diag::topo
