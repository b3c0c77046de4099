// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cli/interface/json_document.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/verdicts.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::doctor {
namespace {

cli::Json check_json(const Check& check) {
  return {{"id", check.id},
          {"group", check.group},
          {"level", name_of(check.level)},
          {"title", check.title},
          {"is_required", check.is_required}};
}

cli::Json remedy_json(const Advice& advice, const std::string& command) {
  return {{"command", command.empty() ? advice.remedy.command : command},
          {"needs_root", advice.remedy.needs_root},
          {"needs_reboot", advice.remedy.needs_reboot},
          {"survives_boot", advice.remedy.survives_boot},
          {"verify", advice.remedy.verify},
          {"is_manual", advice.steps.is_manual()},
          {"risk", advice.steps.risk}};
}

cli::Json finding_json(const Finding& finding, const Advice& advice) {
  cli::Json json = {{"state", name_of(finding.state)}, {"subject", finding.subject}, {"text", finding.text}};
  if (finding.state != State::warn && finding.state != State::fail) return json;
  json["why"] = advice.why;
  json["remedy"] = remedy_json(advice, finding.command);
  return json;
}

cli::Json result_json(const CheckResult& result) {
  const auto one_json = [&](const Finding& finding) { return finding_json(finding, *result.check->advice); };
  return {{"id", result.check->id},
          {"group", result.check->group},
          {"title", result.check->title},
          {"findings", cli::json_list(result.findings, one_json)}};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

void add_access(const Access& access, const std::vector<std::string>& blocked_by, cli::Json* json) {
  (*json)["use"] = name_of(access.use);
  (*json)["via"] = access.via;
  (*json)["reason"] = access.reason;
  (*json)["blocked_by"] = blocked_by;
}

cli::Json verdicts_json(const Verdicts& verdicts) {
  cli::Json json = cli::Json::object();
  for (const LibraryVerdict& library : verdicts.libraries) {
    cli::Json pairs = cli::Json::array();
    for (const PairVerdict& pair : library.pairs) {
      const GpuVerdict& gpu = verdicts.gpus[pair.gpu];
      cli::Json one = {{"gpu", pair.gpu},
                       {"gpu_address", gpu.address},
                       {"hca", pair.adapter},
                       {"path", pair.path},
                       {"is_best", pair.is_best}};
      add_access(pair.access, pair.blocked_by, &one);
      one["believes"] = pair.access.detection;
      one["slowed_by"] = pair.slowed_by;
      pairs.push_back(std::move(one));
    }
    json[lower(library.name)] = {{"gdr", std::move(pairs)}};
  }
  json["gdrkit"] = {{"map", cli::Json::array()}};
  for (std::size_t i = 0; i < verdicts.gpus.size(); ++i) {
    cli::Json one = {{"gpu", i}, {"gpu_address", verdicts.gpus[i].address}};
    add_access(verdicts.gpus[i].mapping, verdicts.gpus[i].blocked_by, &one);
    json["gdrkit"]["map"].push_back(std::move(one));
  }
  json["peers"] = cli::Json::array();
  for (const PeerVerdict& peer : verdicts.peers) {
    cli::Json one = {{"gpu", peer.gpu},   {"gpu_address", verdicts.gpus[peer.gpu].address},
                     {"peer", peer.peer}, {"peer_address", verdicts.gpus[peer.peer].address},
                     {"path", peer.path}, {"route", peer.route},
                     {"acs", peer.acs},   {"iommu", peer.iommu}};
    one["most_gb_per_s"] = peer.gbyte_per_s > 0 ? cli::Json(peer.gbyte_per_s) : cli::Json(nullptr);
    add_access(peer.access, peer.blocked_by, &one);
    one["slowed_by"] = peer.slowed_by;
    json["peers"].push_back(std::move(one));
  }
  if (!verdicts.nothing.empty()) json["nothing"] = verdicts.nothing;
  return json;
}

}  // namespace

void write_list_json(const cli::DocumentOption& option) {
  cli::write_json(option, {{"schema", "gdrkit.doctor-list/1"},
                           {"version", gdrkit_version()},
                           {"checks", cli::json_list(all_checks(), check_json)}});
}

void write_explanation_json(const cli::DocumentOption& option, const Check& check) {
  cli::Json document = {{"schema", "gdrkit.doctor-explain/1"}, {"version", gdrkit_version()}};
  document.update(check_json(check));
  document["reads"] = check.advice->reads;
  document["why"] = check.advice->why;
  document["remedy"] = remedy_json(*check.advice, "");
  document["trap"] = check.advice->trap;
  cli::write_json(option, document);
}

void write_examination_json(const cli::DocumentOption& option, const Examination& examination,
                            const Verdicts* verdicts) {
  cli::Json document = {{"schema", "gdrkit.doctor/1"},
                        {"version", gdrkit_version()},
                        {"root", examination.root},
                        {"level", name_of(examination.level)}};
  document["looked_at"] = {
      {"pci_devices", examination.pci_count}, {"gpus", examination.gpu_count}, {"adapters", examination.adapter_count}};
  document["summary"] = cli::Json::object();
  for (std::size_t state = 0; state < examination.counts.size(); ++state) {
    document["summary"][name_of(static_cast<State>(state))] = examination.counts[state];
  }
  document["exit_code"] = static_cast<int>(examination.code);
  if (verdicts != nullptr) document["verdicts"] = verdicts_json(*verdicts);
  document["checks"] = cli::json_list(examination.results, result_json);
  document["not_run"] = cli::json_list(examination.not_run, &Check::id);
  cli::write_json(option, document);
}

}  // namespace gdrkit::diag::doctor
