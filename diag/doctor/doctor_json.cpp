// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/json_document.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/verdicts_json.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools::doctor {
namespace {

Json finding_json(const Finding& finding, const Advice& advice) {
  Json json = {{"state", name_of(finding.state)}, {"subject", finding.subject}, {"text", finding.text}};
  if (finding.state != State::warn && finding.state != State::fail) return json;
  json["why"] = advice.why;
  json["remedy"] = {{"command", finding.command.empty() ? advice.remedy.command : finding.command},
                    {"needs_root", advice.remedy.needs_root},
                    {"needs_reboot", advice.remedy.needs_reboot},
                    {"survives_boot", advice.remedy.survives_boot},
                    {"verify", advice.remedy.verify},
                    {"is_manual", advice.steps.is_manual()},
                    {"risk", advice.steps.risk}};
  return json;
}

}  // namespace

void print_examination_json(const Examination& examination, const Verdicts* verdicts) {
  Json document = {{"schema", "gdrkit.doctor/1"},
                   {"version", gdrkit_version()},
                   {"root", examination.root},
                   {"level", name_of(examination.level)}};
  document["looked_at"] = {
      {"pci_devices", examination.pci_count}, {"gpus", examination.gpu_count}, {"adapters", examination.adapter_count}};
  document["summary"] = Json::object();
  for (std::size_t state = 0; state < examination.counts.size(); ++state) {
    document["summary"][name_of(static_cast<State>(state))] = examination.counts[state];
  }
  document["exit_code"] = static_cast<int>(examination.code);
  if (verdicts != nullptr) document["verdicts"] = verdicts_json(*verdicts);
  document["checks"] = Json::array();
  for (const CheckResult& result : examination.results) {
    Json check = {{"id", result.check->id}, {"group", result.check->group}, {"title", result.check->title}};
    check["findings"] = Json::array();
    for (const Finding& finding : result.findings)
      check["findings"].push_back(finding_json(finding, *result.check->advice));
    document["checks"].push_back(std::move(check));
  }
  document["not_run"] = Json::array();
  for (const Check* check : examination.not_run) document["not_run"].push_back(check->id);
  print_json(document);
}

}  // namespace gdrkit::tools::doctor
