// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/host_facts.hpp"

#include <map>

#include "cli/interface/exit_code.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/machine/linux_version.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t longest_name = 80;

std::string distribution(const MachineView& view) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const std::string text = "\n" + view.text(path).value;
    const std::string label = "\nPRETTY_NAME=";
    const auto at = text.find(label);
    if (at == std::string::npos) continue;
    const auto begin = at + label.size();
    std::string value = text.substr(begin, text.find('\n', begin) - begin);
    if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    return plain(value, longest_name);
  }
  return "";
}

std::string model_of(const Machine& machine, const PciDevice& gpu) {
  const auto text = machine.view.text("/proc/driver/nvidia/gpus/" + gpu.address + "/information");
  const auto model = labelled(text, "Model");
  if (model.is_found() && !model.value.empty()) return plain(model.value, longest_name);
  return cli::format("device 0x%04llx", static_cast<unsigned long long>(gpu.device));
}

std::string kind_of(const Machine& machine, const Adapter& adapter) {
  const auto kind = machine.view.line(adapter.folder + "/hca_type");
  if (kind.is_found()) return plain(kind.value, longest_name);
  return adapter.pci.address.empty()
             ? "no PCI device"
             : cli::format("device 0x%04llx", static_cast<unsigned long long>(adapter.pci.device));
}

std::string counted_kinds(std::size_t count, const char* what, const std::map<std::string, unsigned>& kinds) {
  std::string text = cli::counted(count, what);
  const char* separator = ": ";
  for (const auto& [kind, number] : kinds) {
    text += cli::format("%s%u x %s", separator, number, kind.c_str());
    separator = ", ";
  }
  return text;
}

}  // namespace

HostFacts read_host_facts(const Machine& machine) {
  HostFacts facts;
  facts.name = plain(machine.view.line("/proc/sys/kernel/hostname").value, longest_name);
  if (facts.name.empty()) facts.name = plain(machine.view.line("/etc/hostname").value, longest_name);
  facts.distribution = distribution(machine.view);
  facts.linux_version = plain(read_linux_version(machine.view).value.text, longest_name);
  std::map<std::string, unsigned> models;
  for (const PciDevice& gpu : machine.gpus) ++models[model_of(machine, gpu)];
  std::map<std::string, unsigned> kinds;
  for (const Adapter& adapter : machine.adapters) ++kinds[kind_of(machine, adapter)];
  facts.gpus = counted_kinds(machine.gpus.size(), "NVIDIA GPU", models);
  facts.adapters = counted_kinds(machine.adapters.size(), "RDMA adapter", kinds);
  return facts;
}

}  // namespace gdrkit::diag::doctor
