// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// topo: how far GPUs and adapters are from each other, as each library sees it, and the best adapter of each GPU.
#include "tools/common/command_line.hpp"
#include "tools/topo/topo_outputs.hpp"

namespace gdrkit::tools {
namespace topo {
namespace {

std::vector<Viewer> chosen(const TopologyFacts& facts, const std::string& word) {
  if (word == "all") return facts.viewers();
  for (const Viewer viewer : facts.viewers()) {
    if (word == name_of(viewer)) return {viewer};
  }
  throw Failure(ExitCode::usage, "gdrkit topo: --as " + word + ": unknown here");
}

/// Nothing at all can be said without the list of PCI devices.
ExitCode code_of(const TopologyFacts& facts) {
  return facts.tree.pci_outcome == Outcome::found ? ExitCode::ok : ExitCode::unreadable;
}

}  // namespace
}  // namespace topo

ExitCode run_topo(Face face, int argc, char** argv) {
  std::string root = "/";
  std::string as = "smi";
  std::string level = "quick";
  bool is_json = false;
  CommandLine line;
  line.name = "topo";
  line.summary =
      "How far GPUs and RDMA adapters are from each other, as nvidia-smi, NCCL, NVSHMEM and UCX each see it, and the "
      "best "
      "adapter of each GPU. Changes nothing; reads files only unless --level probe is given.";
  line.exit_codes = "0 ok, 2 wrong usage, 3 the list of PCI devices cannot be read, 4 --root is no recording";
  line.example = "gdrkit topo\n  gdrkit topo --as all --level probe\n  gdrkit topo --root RECORDING --json";
  line.options = {
      {'\0', "as", "LIBRARY", Choice{{"smi", "nccl", "nvshmem", "ucx", "all"}, &as, ""},
       "whose view: smi (nvidia-smi), nccl, nvshmem, ucx or all", false},
      {'\0', "root", "PLACE", &root, "read a recording of a machine, a folder or an archive, instead of this one",
       false},
      {'\0', "level", "LEVEL", Choice{{"quick", "probe"}, &level, ""},
       "quick reads files; probe also asks NVIDIA's library for NVLink", false},
      {'\0', "json", "", &is_json, "print one JSON document (tools/topo/README.md) and no text", false},
  };
  if (const auto ended = parse(line, face, argc, argv)) return *ended;
  const MachineView view = open_view(root);
  const Probe probe = gather_probe(view, level == "probe" ? Level::probe : Level::quick);
  const TopologyFacts facts = read_topology(view, root, probe.nvml);
  const ExitCode code = topo::code_of(facts);
  if (is_json) {
    topo::print_topology_json(facts, code);
  } else {
    topo::print_text(facts, topo::chosen(facts, as));
  }
  return code;
}

}  // namespace gdrkit::tools
