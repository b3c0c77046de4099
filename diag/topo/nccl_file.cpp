// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// NCCL's topology files, written and read.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "diag/topo/topo_outputs.hpp"
#include "diag/topology/nccl_xml.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag::topo {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), &std::fclose);
  const auto fail_to_read = [&path] {
    throw cli::Failure(cli::ExitCode::bad_recording, "cannot read " + path + ": " + std::strerror(errno));
  };
  if (file == nullptr) fail_to_read();
  std::string text(most_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) fail_to_read();
  if (text.size() > most_bytes)
    throw cli::Failure(cli::ExitCode::bad_recording,
                       path + " is larger than 4 MiB, so it is not an NCCL topology file");
  return text;
}

}  // namespace

void print_nccl_xml(const TopologyFacts& facts, const MachineView& view, const topology::Fact<NvmlFacts>& nvml) {
  topology::NcclXmlFacts own = topology::read_nccl_facts(view, facts.graph);
  for (const AdapterPorts& adapter : facts.ports) {
    if (adapter.best_rate() > 0) {
      own.speeds_mbit_per_s[adapter.name] = static_cast<unsigned>(std::lround(adapter.best_rate() * 1000));
    }
  }
  for (const NvmlGpu& gpu : nvml.value.gpus) {
    const auto address = platform::parse_pci_address(gpu.address.value);
    if (!address.has_value() || !gpu.compute_capability.is_found()) continue;
    own.gpus[*address] = {static_cast<int>(gpu.index), static_cast<int>(gpu.compute_capability.value)};
  }
  const auto text = topology::write_nccl_xml(facts.graph, own);
  if (!text.has_value())
    throw cli::Failure(cli::ExitCode::unreadable, std::string("gdrkit topo: ") + text.error().text());
  std::fputs(text->c_str(), stdout);
}

TopologyFacts read_nccl_file(const std::string& path) {
  auto dump = topology::parse_nccl_xml(read_file(path));
  if (!dump.has_value()) throw cli::Failure(cli::ExitCode::bad_recording, path + ": " + dump.error().text());
  std::vector<AdapterPorts> ports;
  for (const topology::TreeDevice& device : dump->tree.adapters) {
    AdapterPorts adapter;
    adapter.name = device.name;
    adapter.usable = Usable::yes;  // NCCL lists only those that it uses
    ports.push_back(std::move(adapter));
  }
  TopologyFacts facts(path, std::move(dump->tree), std::move(dump->links), std::move(ports));
  facts.is_from_nccl = true;
  return facts;
}

}  // namespace gdrkit::diag::topo
