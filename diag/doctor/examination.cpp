// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/examination.hpp"

#include <algorithm>

namespace gdrkit::diag::doctor {
namespace {

/// `word` is an ID, a group, or the part of an ID before the dot (`env` is the group `environment`). A final * matches
/// any ID that starts with the word.
bool does_match(const Check& check, const std::string& word) {
  if (!word.empty() && word.back() == '*') return std::string(check.id).starts_with(word.substr(0, word.size() - 1));
  const std::string id = check.id;
  return word == id || word == check.group || word == id.substr(0, id.find('.'));
}

/// "a,b" given as one word counts as two.
std::vector<std::string> split_all(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const std::string& word : words) {
    for (std::string& part : split(word + ",", ',')) parts.push_back(std::move(part));
  }
  return parts;
}

void refuse_unknown_words(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const auto& checks = all_checks();
    if (std::ranges::none_of(checks, [&](const Check& check) { return does_match(check, word); })) {
      cli::reject(cli::format("unknown check or group '%s'; run 'gdrkit doctor list' to see all checks and groups",
                              word.c_str()));
    }
  }
}

cli::ExitCode code_of(const Examination& examination, bool is_strict) {
  const auto count = [&](State state) { return examination.counts[static_cast<std::size_t>(state)]; };
  if (count(State::fail) > 0 || (is_strict && count(State::warn) > 0)) return cli::ExitCode::failed;
  for (const CheckResult& result : examination.results) {
    if (!result.check->is_required && !is_strict) continue;
    for (const Finding& finding : result.findings) {
      if (finding.state == State::unknown) return cli::ExitCode::unreadable;
    }
  }
  return cli::ExitCode::ok;
}

/// A recording holds the results of level probe, so the level is ignored for it.
bool is_out_of_reach(const Check& check, const MachineView& view, Level level) {
  return view.is_live() && level == Level::quick && check.level == Level::probe;
}

}  // namespace

State CheckResult::worst() const {
  constexpr int rank[] = {1, 2, 4, 5, 0, 3};  // by State
  State worst = State::skip;
  for (const Finding& finding : findings) {
    if (rank[static_cast<std::size_t>(finding.state)] > rank[static_cast<std::size_t>(worst)]) worst = finding.state;
  }
  return worst;
}

const Check& check_named(const std::string& id) {
  const auto& checks = all_checks();
  const auto found = std::ranges::find_if(checks, [&](const Check& check) { return id == check.id; });
  if (found != checks.end()) return *found;
  cli::reject(cli::format("unknown check ID '%s'; run 'gdrkit doctor list' to see all check IDs", id.c_str()));
}

void refuse_without_probe(const Selection& selection, const MachineView& view) {
  for (const std::string& word : split_all(selection.only)) {
    const auto& checks = all_checks();
    const auto can_run = [&](const Check& check) {
      return does_match(check, word) && !is_out_of_reach(check, view, selection.level);
    };
    if (std::ranges::any_of(checks, can_run)) continue;
    cli::reject(cli::format(
        "cannot run --only %s at --level quick: the selected checks open devices; add --level probe", word.c_str()));
  }
}

std::vector<const Check*> select(const Selection& selection) {
  const auto only = split_all(selection.only);
  const auto skip = split_all(selection.skip);
  refuse_unknown_words(only);
  refuse_unknown_words(skip);
  std::vector<const Check*> chosen;
  for (const Check& check : all_checks()) {
    const auto named = [&](const std::string& word) { return does_match(check, word); };
    const bool is_selected = only.empty() || std::ranges::any_of(only, named);
    if (is_selected && std::ranges::none_of(skip, named)) chosen.push_back(&check);
  }
  if (chosen.empty()) cli::reject("--only and --skip leave no check to run");
  return chosen;
}

Examination examine(const Machine& machine, const std::string& root, const std::vector<const Check*>& checks,
                    Level level, bool is_strict) {
  Examination examination;
  examination.root = root;
  examination.level = level;
  examination.pci_count = machine.pci_count;
  examination.gpu_count = machine.gpus.size();
  examination.adapter_count = machine.adapters.size();
  for (const Check* check : checks) {
    if (is_out_of_reach(*check, machine.view, level)) {
      examination.not_run.push_back(check);
      continue;
    }
    Findings findings;
    check->run(machine, findings);
    if (findings.all().empty())
      findings.add(State::skip, "", "this check does not apply: the machine has none of the objects that it examines");
    for (const Finding& finding : findings.all()) ++examination.counts[static_cast<std::size_t>(finding.state)];
    examination.results.push_back({check, findings.all()});
  }
  examination.code = code_of(examination, is_strict);
  return examination;
}

std::string conditions_of(const Remedy& remedy) {
  return std::string(remedy.needs_root ? "needs root; " : "needs no root; ") +
         (remedy.needs_reboot ? "needs a reboot; " : "needs no reboot; ") +
         (remedy.survives_boot ? "survives a boot" : "does not survive a boot");
}

}  // namespace gdrkit::diag::doctor
