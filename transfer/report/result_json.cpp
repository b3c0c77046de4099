// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <cstring>

#include "cli/interface/json_document.hpp"
#include "transfer/report/doctor_advice.hpp"
#include "transfer/report/result_json.hpp"

namespace gdrkit::transfer::report {
namespace {

/// Checks whose findings slow or stop transfers between GPUs of one machine, or the CPU's path to them.
constexpr const char* checks_of_gpus[] = {
    "drv.loaded",   "gpu.chipset_p2p", "nvl.state",    "nvl.fabric",    "pcie.width", "pcie.speed",
    "pcie.aspm",    "acs.redirect",    "acs.vm_ats",   "iommu.mode",    "bar1.size",  "bar.above4g",
    "cpu.governor", "cpu.wc",          "numa.process", "cpu.balancing", "lim.shm",    "ctr.devices"};
/// Checks whose finding on the adapter in use means that the adapter is slow or does not work.
constexpr const char* checks_of_adapters[] = {"nic.state",  "nic.rate",     "nic.sm",     "nic.mtu",    "nic.counters",
                                              "roce.gid",   "roce.qos",     "pcie.width", "pcie.speed", "pcie.mrrs",
                                              "pcie.mps",   "pcie.relaxed", "pcie.aspm",  "pcie.aer",   "pcie.path_min",
                                              "rdma.stack", "numa.nic"};
/// Checks whose findings slow or stop every adapter of the machine.
constexpr const char* checks_of_every_adapter[] = {"lim.memlock", "cpu.governor", "iommu.mode"};
/// Checks on an adapter that accesses a GPU's memory.
constexpr const char* checks_of_direct_access[] = {"peer.any", "drv.params", "dmabuf.verbs"};
/// Settings of one library.
struct SettingCheck {
  const char* check;
  const char* library;
};
constexpr SettingCheck checks_of_settings[] = {
    {"env.ucx", "ucx"}, {"env.ucx", "mpi"}, {"env.ib_disable", "nccl"}, {"env.gdr_level", "nccl"}};

bool is_pci_address(const std::string& text) {
  return text.size() == std::strlen("0000:3b:00.0") && text[4] == ':' && text[7] == ':' && text[10] == '.';
}

template <std::size_t N>
bool is_in(const char* const (&list)[N], const std::string& check) {
  return std::ranges::any_of(list, [&](const char* one) { return check == one; });
}

/// "mlx5_1" is a word of "mlx5_1:1", not of "mlx5_10:1".
bool has_word(const std::string& text, const std::string& word) {
  const auto goes_on = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !goes_on(at - 1)) && !goes_on(at + word.size())) return true;
  }
  return false;
}

bool matters_for_adapter(const std::string& check, const std::string& subject, const DoctorRequest& request) {
  if (!request.gpus.empty() && is_in(checks_of_direct_access, check)) return true;
  if (is_in(checks_of_every_adapter, check)) return true;
  return is_in(checks_of_adapters, check) && (subject == request.adapter_address || has_word(subject, request.adapter));
}

bool matters(const std::string& check, const std::string& subject, const DoctorRequest& request) {
  if (!request.adapter.empty()) {
    if (matters_for_adapter(check, subject, request)) return true;
    if (request.gpus.empty()) return false;
  }
  for (const SettingCheck& one : checks_of_settings) {
    if (check == one.check && request.library == one.library) return true;
  }
  const bool is_listed = is_in(checks_of_gpus, check);
  if (!is_listed || !is_pci_address(subject)) return is_listed;
  // A finding on a bridge above a GPU names the bridge; it does not concern adapters or other GPUs.
  if (check.starts_with("acs.") || check.starts_with("iommu.")) return true;
  return std::ranges::find(request.gpus, subject) != request.gpus.end();
}

std::string text_in(const cli::Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const cli::Json& array_in(const cli::Json& object, const char* name) {
  static const cli::Json empty = cli::Json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : empty;
}

std::vector<std::string> checks_in(const cli::Json& verdict) {
  std::vector<std::string> checks;
  for (const char* const list : {"blocked_by", "slowed_by"}) {
    for (const cli::Json& check : array_in(verdict, list)) {
      if (check.is_string()) checks.push_back(check.get<std::string>());
    }
  }
  return checks;
}

/// For one kind of verdict: the best adapter of each GPU, the adapter in use, or the CPU's mapping.
void add_verdicts(const cli::Json& document, const DoctorRequest& request, DoctorAdvice* advice) {
  const bool is_mapping = request.library == "shmem";
  const bool is_verbs = request.library == "verbs";
  // UCX has the same requirements for a pair as libibverbs, apart from its own settings.
  const std::string library = is_mapping ? "gdrkit" : request.library == "mpi" || is_verbs ? "ucx" : request.library;
  const auto verdicts = document.find("verdicts");
  if (verdicts == document.end() || !verdicts->contains(library)) return;
  for (const cli::Json& pair : array_in((*verdicts)[library], is_mapping ? "map" : "gdr")) {
    const std::string gpu = text_in(pair, "gpu_address");
    const bool is_ours = std::ranges::find(request.gpus, gpu) != request.gpus.end();
    const bool is_pair =
        is_mapping || (is_verbs ? text_in(pair, "hca") == request.adapter : pair.value("is_best", false));
    const bool is_setting = is_verbs && text_in(pair, "reason").starts_with("UCX_");
    if (!is_ours || !is_pair || is_setting) continue;
    advice->adapters.push_back({gpu, is_mapping ? "the CPU" : text_in(pair, "hca"), text_in(pair, "use"),
                                text_in(pair, "via"), text_in(pair, "reason"), checks_in(pair)});
  }
}

}  // namespace

DoctorAdvice advice_in(const std::string& document_text, const DoctorRequest& request) {
  DoctorAdvice advice;
  advice.is_requested = true;
  advice.subjects = request.gpus;
  if (!request.adapter.empty()) advice.subjects.push_back(request.adapter);
  const cli::Json document = cli::Json::parse(document_text, nullptr, false);
  if (!document.is_object() || !document.contains("checks")) {
    advice.unknown = "gdrkit doctor returned no result";
    return advice;
  }
  for (const cli::Json& check : array_in(document, "checks")) {
    const std::string id = text_in(check, "id");
    for (const cli::Json& finding : array_in(check, "findings")) {
      const std::string state = text_in(finding, "state");
      const std::string subject = text_in(finding, "subject");
      if ((state != "fail" && state != "warn") || !matters(id, subject, request)) continue;
      advice.findings.push_back({id, state, subject, text_in(finding, "text")});
    }
  }
  if (request.is_between_machines || request.library == "shmem" || !request.adapter.empty())
    add_verdicts(document, request, &advice);
  return advice;
}

cli::Json doctor_json(const DoctorAdvice& advice) {
  if (!advice.is_requested) return nullptr;
  const auto finding_json = [](const DoctorFinding& finding) -> cli::Json {
    return {{"check", finding.check}, {"state", finding.state}, {"subject", finding.subject}, {"text", finding.text}};
  };
  const auto verdict_json = [](const AdapterVerdict& verdict) -> cli::Json {
    return {{"gpu_address", verdict.gpu}, {"hca", verdict.adapter},   {"use", verdict.use},
            {"via", verdict.via},         {"reason", verdict.reason}, {"checks", verdict.checks}};
  };
  return {{"is_known", advice.unknown.empty()},
          {"findings", cli::json_list(advice.findings, finding_json)},
          {"adapters", cli::json_list(advice.adapters, verdict_json)}};
}

void write_result_json(const cli::DocumentOption& option, const measure::Result& result, const cli::Json& fields) {
  if (!option.is_given) return;
  cli::Json document = measure::head_json(result);
  document["series"] = measure::series_json(result.series);
  document.update(fields);
  document["ok"] = result.is_ok;
  cli::write_json(option, document);
}

}  // namespace gdrkit::transfer::report
