// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// topo: how far GPUs and adapters are from each other, as each library sees it, and the best adapter of each GPU.
#include "cli/interface/common_options.hpp"
#include "diag/topo/topo_outputs.hpp"

namespace gdrkit::diag::topo {
namespace {

std::vector<Viewer> chosen(const TopologyFacts& facts, const std::string& word) {
  if (word == "all") return facts.viewers();
  for (const Viewer viewer : facts.viewers()) {
    if (word == name_of(viewer)) return {viewer};
  }
  cli::reject("gdrkit topo: cannot use --as " + word +
              ": an NCCL topology file contains NCCL's view only; use --as nccl");
}

/// Without the list of PCI devices nothing can be reported.
cli::ExitCode code_of(const TopologyFacts& facts) {
  return facts.tree.pci_outcome == Outcome::found ? cli::ExitCode::ok : cli::ExitCode::unreadable;
}

struct Requested {
  std::string as = "smi";
  cli::DocumentOption json;
  bool is_dot = false;
  bool is_svg = false;
  bool is_nccl_xml = false;

  [[nodiscard]] int outputs() const { return int{json.is_on_stdout()} + int{is_dot} + int{is_svg} + int{is_nccl_xml}; }
};

cli::ExitCode print(const TopologyFacts& facts, const Requested& requested) {
  const cli::ExitCode code = code_of(facts);
  const std::string& as = requested.as;
  if (requested.json.is_given) write_topology_json(requested.json, facts, code);
  if (requested.is_dot) {
    print_dot(facts);
  } else if (requested.is_svg) {
    print_svg(facts);
  } else if (!requested.json.is_on_stdout()) {
    print_text(facts, chosen(facts, facts.is_from_nccl && as == "smi" ? "nccl" : as));
  }
  return code;
}

}  // namespace

cli::ExitCode run_topo(cli::Front front, int argc, char** argv) {
  std::string root = "/";
  Requested requested;
  std::string level = "quick";
  std::string nccl_file;
  cli::CommandLine line;
  line.name = "topo";
  line.uses_device = false;
  line.summary =
      "Prints distances between GPUs and RDMA adapters, as nvidia-smi, NCCL, NVSHMEM and UCX each see them, and the "
      "best adapter of each GPU. Changes nothing and reads only files, unless --level probe or cuda is given.";
  line.exit_codes =
      "0 ok, 2 wrong usage, 3 the list of PCI devices cannot be read, 4 --root is not a recording, or the file is not "
      "an NCCL topology";
  line.example =
      "gdrkit topo\n  gdrkit topo --as all --level probe\n  gdrkit topo --root RECORDING --svg > tree.svg\n  gdrkit "
      "topo --nccl-xml > topology.xml";
  line.options = {
      {'\0', "as", "LIBRARY", cli::Choice{{"smi", "nccl", "nvshmem", "ucx", "all"}, &requested.as, ""},
       "view: smi, nccl, nvshmem, ucx or all", false},
      {'\0', "root", "PLACE", &root, "read a recording (directory, archive, - for stdin) instead", false},
      {'\0', "level", "LEVEL", cli::Choice{level_names(), &level, ""},
       "quick (files), probe (+ NVML for NVLinks) or cuda (+ CUDA)", false},
      {'\0', "dot", "", &requested.is_dot, "print the tree for Graphviz", false},
      {'\0', "svg", "", &requested.is_svg, "print the tree as a picture", false},
      {'\0', "nccl-xml", "", &requested.is_nccl_xml, "print the topology in the format of NCCL_TOPO_FILE", false},
      {'\0', "from-nccl-xml", "FILE", &nccl_file, "show the topology of this NCCL file (NCCL_TOPO_DUMP_FILE)", false},
      cli::json_option(&requested.json, "diag/topo/README.md"),
  };
  if (const auto ended = cli::parse(line, front, argc, argv)) return *ended;
  if (requested.outputs() > 1)
    cli::reject("gdrkit topo: cannot combine --json, --dot, --svg and --nccl-xml; choose one");
  if (!nccl_file.empty()) {
    if (root != "/" || level != "quick" || requested.is_nccl_xml)
      cli::reject("gdrkit topo: cannot combine --from-nccl-xml with --root, --level or --nccl-xml");
    return print(read_nccl_file(nccl_file), requested);
  }
  const MachineView view = open_view(root);
  const Probe probe = gather_probe(view, level_named(level));
  const TopologyFacts facts = read_topology(view, root, probe.nvml);
  if (requested.is_nccl_xml) {
    if (requested.json.is_given) write_topology_json(requested.json, facts, code_of(facts));
    print_nccl_xml(facts, view, probe.nvml);
    return code_of(facts);
  }
  return print(facts, requested);
}

}  // namespace gdrkit::diag::topo
