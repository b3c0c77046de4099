// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group kernel_log: messages of Linux and the driver since boot.
#include <algorithm>
#include <cstdio>
#include <map>

#include "diag/doctor/check.hpp"
#include "diag/machine/grace.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr std::size_t most_findings = 64;

/// Errors of the card, its links or the driver in NVIDIA's table of Xids; "": without a short name.
struct Xid {
  unsigned number;
  const char* meaning;
};
constexpr Xid faults[] = {{48, "double-bit ECC error"},
                          {56, ""},
                          {57, ""},
                          {58, ""},
                          {62, "microcontroller halt"},
                          {63, "row remapping or page retirement recorded"},
                          {64, "row remapping or page retirement failed"},
                          {65, ""},
                          {68, ""},
                          {69, ""},
                          {73, ""},
                          {74, "NVLink error"},
                          {79, "the GPU has fallen off the bus"},
                          {80, ""},
                          {81, ""},
                          {92, "high rate of single-bit ECC errors"},
                          {95, "uncontained ECC error"},
                          {119, "the GPU system processor does not respond"},
                          {120, "error of the GPU system processor"}};
constexpr unsigned of_programs[] = {13, 31, 43, 45};

struct Sighting {
  unsigned count = 0;
  std::int64_t last_seconds = 0;
};

/// "NVRM: Xid (PCI:0000:3b:00): 79, ..." contains the address and the number.
bool parse_xid(const std::string& text, std::string* address, unsigned* number) {
  const auto at = text.find("NVRM: Xid (");
  char place[32] = "";
  if (at == std::string::npos || std::sscanf(text.c_str() + at, "NVRM: Xid (%31[^)]): %u", place, number) != 2)
    return false;
  *address = place;
  if (address->starts_with("PCI:")) *address = address->substr(4);
  return true;
}

/// Returns false after adding a finding with the reason why the log is unavailable.
bool take_log(const Machine& machine, Findings& findings) {
  if (machine.probe.kernel_log.is_found()) return true;
  findings.add(State::unknown, "Linux log", machine.probe.kernel_log.reason);
  return false;
}

/// A log without faults is weaker evidence if its oldest messages are lost.
void add_clean(const KernelLog& log, const std::string& what, Findings& findings) {
  if (log.is_whole) return findings.add(State::ok, "", "no " + what + " since boot");
  const auto since = log.messages.empty() ? 0 : log.messages.front().microseconds / 1'000'000;
  findings.add(
      State::info, "",
      "no " + what + cli::format(" since %lld s after boot: older messages are lost", static_cast<long long>(since)));
}

/// Whether the message names this device: in full, or without the domain 0000 as x86 IOMMUs do.
bool names_device(const std::string& text, const std::string& address) {
  if (text.find(address) != std::string::npos) return true;
  if (!address.starts_with("0000:")) return false;
  const std::string brief = address.substr(5);
  for (auto at = text.find(brief); at != std::string::npos; at = text.find(brief, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    if (before == '[' || before == '=' || before == 'x' || before == ' ') return true;
  }
  return false;
}

bool is_iommu_fault(const std::string& text) {
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  return (has("DMAR:") && has("fault")) || has("IO_PAGE_FAULT") || (has("arm-smmu") && has("event"));
}

}  // namespace

const Advice advice_gpu_xid = {
    "lines 'NVRM: Xid' in the Linux log since boot",
    "the driver reports errors of the card, of NVLink and of itself by these numbers; after some of them the GPU "
    "returns wrong data or none until it is reset",
    {"look the number up in NVIDIA's table of Xid errors; if it is an error of the GPU: end the programs, reset the "
     "GPU (sudo nvidia-smi --gpu-reset -i ADDRESS) or reboot, and replace the card if the error returns",
     true, false, false, "journalctl -k -b | grep 'NVRM: Xid'"},
    "13, 31, 43 and 45 are mostly faults of programs. The log also holds errors from before the last reset of the GPU"};

void check_gpu_xid(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty() || !take_log(machine, findings)) return;
  const KernelLog& log = machine.probe.kernel_log.value;
  std::map<std::pair<std::string, unsigned>, Sighting> seen;
  for (const KernelMessage& message : log.messages) {
    std::string address;
    unsigned number = 0;
    if (!parse_xid(message.text, &address, &number)) continue;
    if (seen.size() == most_findings && seen.count({address, number}) == 0) continue;
    Sighting& sighting = seen[{address, number}];
    ++sighting.count;
    sighting.last_seconds = message.microseconds / 1'000'000;
  }
  for (const auto& [key, sighting] : seen) {
    const auto& [logged, number] = key;
    std::string address = logged;  // the driver omits the function
    for (const PciDevice& gpu : machine.gpus) {
      if (gpu.address == logged + ".0") address = gpu.address;
    }
    const auto* fault = std::ranges::find_if(faults, [n = number](const Xid& x) { return x.number == n; });
    const bool is_fault = fault != std::end(faults);
    const bool is_of_program = std::ranges::count(of_programs, number) > 0;
    const std::string meaning = is_fault && fault->meaning[0] != '\0' ? std::string(" (") + fault->meaning + ")"
                                : is_of_program                       ? " (mostly a fault of a program)"
                                                                      : "";
    findings.add(is_fault        ? State::fail
                 : is_of_program ? State::info
                                 : State::warn,
                 address,
                 cli::format("Xid %u%s: %u times, last %lld s after boot", number, meaning.c_str(), sighting.count,
                             static_cast<long long>(sighting.last_seconds)));
  }
  if (seen.empty()) add_clean(log, "Xid", findings);
}

const Advice advice_iommu_faults = {
    "IOMMU messages (DMAR, AMD-Vi, SMMU) in the Linux log since boot that name a GPU or an adapter",
    "the IOMMU blocked a memory access by the device: a transfer between GPU and adapter failed or hung",
    {"see iommu.mode, drv.remap and acs.redirect; if they are ok: boot with iommu=pt (arm64: iommu.passthrough=1, "
     "except on Grace before Linux 6.11, see iommu.smmu)",
     true, true, true, "journalctl -k -b | grep -E 'DMAR|AMD-Vi|smmu'"},
    "the log also holds faults from before the last change of settings; a guest does not see the host's IOMMU"};

void check_iommu_faults(const Machine& machine, Findings& findings) {
  const auto devices = devices_or_skip(machine, findings);
  if (devices.empty() || !take_log(machine, findings)) return;
  const KernelLog& log = machine.probe.kernel_log.value;
  std::map<std::string, std::pair<unsigned, std::string>> faults_of;
  unsigned others = 0;
  for (const KernelMessage& message : log.messages) {
    if (!is_iommu_fault(message.text)) continue;
    bool is_ours = false;
    for (const PciDevice& device : devices) {
      if (!names_device(message.text, device.address)) continue;
      is_ours = true;
      auto& [count, last] = faults_of[device.address];
      ++count;
      last = message.text;
    }
    others += is_ours ? 0 : 1;
  }
  for (const auto& [address, fault] : faults_of) {
    findings.add(State::fail, address, cli::format("%u faults, the last: ", fault.first) + fault.second,
                 needs_translation(machine.view).value
                     ? "see drv.remap, acs.datadirect and iommu.smmu: this machine needs translation"
                     : "");
  }
  if (others > 0)
    findings.add(State::info, "", cli::format("%u faults that name neither a GPU nor an adapter", others));
  if (faults_of.empty()) add_clean(log, "fault of a GPU or adapter", findings);
}

}  // namespace gdrkit::diag::doctor
