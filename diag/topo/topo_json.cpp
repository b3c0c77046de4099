// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/topo/topo_outputs.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/number_list.hpp"

namespace gdrkit::diag::topo {
namespace {

using topology::Distance;
using topology::PathClass;
using topology::PciFunction;
using topology::TreeDevice;

template <class T>
cli::Json json_of(const Fact<T>& fact) {
  return fact.is_found() ? cli::Json(fact.value) : cli::Json();
}

cli::Json link_json(const topology::PciLink& link) {
  return {{"speed_gts", json_of(link.speed_gts)}, {"width", json_of(link.width)}};
}

cli::Json function_json(const PciFunction& function) {
  return {{"pci_address", function.name},
          {"vendor", json_of(function.vendor)},
          {"device", json_of(function.device)},
          {"class", json_of(function.class_code)},
          {"link", link_json(function.current)},
          {"max_link", link_json(function.most)},
          {"numa_node", json_of(function.numa_node)}};
}

cli::Json device_json(const TopologyFacts& facts, const TreeDevice& device) {
  constexpr const char* kinds[] = {"gpu", "adapter", "nvswitch"};
  cli::Json json = {{"name", device.name}, {"kind", kinds[static_cast<std::size_t>(device.kind)]}};
  json.update(function_json(device.function));
  json["path"] = json_of(device.real_path);
  json["host_bridge"] = device.root.empty() ? cli::Json() : cli::Json(device.root);
  json["cpus"] = device.cpus.is_found() ? cli::Json(platform::to_list_text(device.cpus.value)) : cli::Json();
  json["bridges"] = cli::Json::array();
  for (const std::size_t bridge : device.bridges) {
    // A file of NCCL implies ports that it does not name.
    if (const std::string& name = facts.tree.bridges[bridge].name; !name.empty()) json["bridges"].push_back(name);
  }
  return json;
}

cli::Json port_json(const AdapterPort& port) {
  return {{"number", port.number},
          {"state", json_of(port.state)},
          {"rate_gbit_per_s", json_of(port.rate_gbit_per_s)},
          {"link_layer", json_of(port.link_layer)}};
}

cli::Json ports_json(const AdapterPorts& adapter) {
  constexpr const char* words[] = {"yes", "no", "unknown"};
  return {{"usable", words[static_cast<std::size_t>(adapter.usable)]},
          {"why", adapter.why},
          {"ports", cli::json_list(adapter.ports, port_json)}};
}

/// Rows and columns in the order of `devices`; the reasons of unknown cells are in `unknown`.
void add_distances(const TopologyFacts& facts, cli::Json& document) {
  document["distances"] = cli::Json::object();
  document["unknown"] = cli::Json::array();
  for (const Viewer viewer : facts.viewers()) {
    cli::Json& rows = document["distances"][name_of(viewer)] = cli::Json::array();
    for (std::size_t from = 0; from < facts.count(); ++from) {
      cli::Json row = cli::Json::array();
      for (std::size_t to = 0; to < facts.count(); ++to) {
        const Distance distance = facts.distance(viewer, from, to);
        const bool is_unknown = distance.value == PathClass::unknown;
        row.push_back(is_unknown ? cli::Json() : cli::Json(cell_of(viewer, distance)));
        if (!is_unknown) continue;
        document["unknown"].push_back({{"library", name_of(viewer)},
                                       {"from", facts.device(from).name},
                                       {"to", facts.device(to).name},
                                       {"why", distance.why}});
      }
      rows.push_back(std::move(row));
    }
  }
}

void add_best(const TopologyFacts& facts, cli::Json& document) {
  document["matching_hash"] = hash_text(facts);
  document["best_adapters"] = cli::Json::array();
  for (std::size_t gpu = 0; gpu < facts.tree.gpus.size(); ++gpu) {
    const topology::BestAdapter& best = facts.matching.gpus[gpu];
    cli::Json json = {{"gpu", facts.tree.gpus[gpu].name}, {"why", best.why}};
    json["adapter"] = best.adapter.has_value() ? cli::Json(facts.tree.adapters[*best.adapter].name) : cli::Json();
    json["class"] = best.adapter.has_value() ? cli::Json(topology::name_of(best.nearness)) : cli::Json();
    document["best_adapters"].push_back(std::move(json));
  }
}

cli::Json nvlink_json(const TopologyFacts& facts) {
  cli::Json json = {{"is_known", facts.links.is_known}, {"why_not", facts.links.why_not}};
  json["gpus"] = cli::Json::array();
  for (const auto& [address, gpu] : facts.links.gpus) {
    cli::Json one = {{"pci_address", platform::to_string(address)},
                     {"links_to_switches", gpu.to_switches},
                     {"c2c_links", gpu.c2c_count}};
    one["links_to_gpus"] = cli::Json::object();
    for (const auto& [other, count] : gpu.to_gpus) one["links_to_gpus"][platform::to_string(other)] = count;
    json["gpus"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

void write_topology_json(const cli::DocumentOption& option, const TopologyFacts& facts, cli::ExitCode code) {
  cli::Json document = {{"schema", "gdrkit.topo/1"}, {"version", gdrkit_version()}, {"root", facts.source}};
  document["looked_at"] = {{"pci_devices", facts.tree.pci_count},
                           {"gpus", facts.tree.gpus.size()},
                           {"adapters", facts.tree.adapters.size()},
                           {"nvswitches", facts.tree.nvswitches.size()}};
  document["missing"] = what_is_missing(facts);
  document["exit_code"] = static_cast<int>(code);
  document["nvlink"] = nvlink_json(facts);
  const auto json_of_device = [&](const TreeDevice& device) { return device_json(facts, device); };
  document["devices"] = cli::json_list(facts.tree.gpus, json_of_device);
  for (std::size_t i = 0; i < facts.tree.adapters.size(); ++i) {
    cli::Json adapter = device_json(facts, facts.tree.adapters[i]);
    adapter.update(ports_json(facts.ports[i]));
    document["devices"].push_back(std::move(adapter));
  }
  document["nvswitches"] = cli::json_list(facts.tree.nvswitches, json_of_device);
  document["bridges"] = cli::Json::array();
  for (const PciFunction& bridge : facts.tree.bridges) {
    if (!bridge.name.empty()) document["bridges"].push_back(function_json(bridge));
  }
  document["distances_are_over_pcie_alone"] = !facts.links.is_known;
  add_distances(facts, document);
  add_best(facts, document);
  cli::write_json(option, document);
}

}  // namespace gdrkit::diag::topo
