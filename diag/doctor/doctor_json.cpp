// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/verdicts_json.hpp"
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

}  // namespace

void write_list_json(const cli::DocumentOption& option) {
  cli::Json document = {
      {"schema", "gdrkit.doctor-list/1"}, {"version", gdrkit_version()}, {"checks", cli::Json::array()}};
  for (const Check& check : all_checks()) document["checks"].push_back(check_json(check));
  cli::write_json(option, document);
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
  document["checks"] = cli::Json::array();
  for (const CheckResult& result : examination.results) {
    cli::Json check = {{"id", result.check->id}, {"group", result.check->group}, {"title", result.check->title}};
    check["findings"] = cli::Json::array();
    for (const Finding& finding : result.findings)
      check["findings"].push_back(finding_json(finding, *result.check->advice));
    document["checks"].push_back(std::move(check));
  }
  document["not_run"] = cli::Json::array();
  for (const Check* check : examination.not_run) document["not_run"].push_back(check->id);
  cli::write_json(option, document);
}

}  // namespace gdrkit::diag::doctor
