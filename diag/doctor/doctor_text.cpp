// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/doctor_text.hpp"

#include <unistd.h>

#include <cstdio>
#include <map>

#include "diag/doctor/fix/fault_object.hpp"
#include "diag/doctor/host_facts.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools::doctor {
namespace {

bool is_fault(const Finding& finding) { return finding.state == State::warn || finding.state == State::fail; }

void print_head(const Examination& examination, const Machine& machine) {
  const HostFacts facts = read_host_facts(machine);
  std::printf("gdrkit doctor %s on %s (%s, Linux %s): looked at %s by %zu check(s)\n", gdrkit_version(),
              facts.name.empty() ? (machine.view.is_live() ? "this host" : "a recorded machine") : facts.name.c_str(),
              facts.distribution.empty() ? "unknown distribution" : facts.distribution.c_str(),
              facts.linux_version.empty() ? "unknown" : facts.linux_version.c_str(),
              printable(examination.root).c_str(), examination.results.size());
  std::printf("%s; %s; %zu PCI device(s)\n", facts.gpus.c_str(), facts.adapters.c_str(), examination.pci_count);
}

void print_advice(const Advice& advice, const std::string& command, const std::string& verify) {
  std::printf("       why     %s\n       remedy  %s\n               (%s)\n       verify  %s\n", advice.why,
              command.c_str(), conditions_of(advice.remedy).c_str(), verify.c_str());
}

/// `text` with the finding's object in the place of ADDRESS, ADAPTER ...; as it is where one of them is not known, or
/// where a device and its port are meant, which are two objects.
std::string filled_or_plain(const std::string& text, const FaultObject& object) {
  if (text.find("ADDRESS") != std::string::npos && text.find("PORT") != std::string::npos) return text;
  return printable(filled(text, object, Quoting::none).value_or(text));
}

/// The text without the object's name, so that findings which differ in the name alone are one line.
std::string kind_of(const Finding& finding) {
  std::string kind = finding.text;
  if (finding.subject.empty()) return kind;
  for (auto at = kind.find(finding.subject); at != std::string::npos; at = kind.find(finding.subject, at + 1))
    kind.replace(at, finding.subject.size(), "\x01");
  return kind;
}

void print_line(const Terminal& terminal, const Check& check, const Finding& finding, unsigned others) {
  const std::string more = others == 0 ? "" : format(" and %u more", others);
  // "/proc/cmdline: No such file": the text may begin with the object already.
  const bool is_told = others == 0 && finding.text.rfind(finding.subject + ":", 0) == 0;
  const std::string subject = is_told ? "" : finding.subject;
  std::printf("%s %-16s %s%s%s%s\n", terminal.mark_of(finding.state).c_str(), check.id, subject.c_str(), more.c_str(),
              subject.empty() ? "" : ": ", finding.text.c_str());
}

/// One line a finding, and one for those that are no fault and say the same of several objects. The advice follows
/// where it is first needed, or where the remedy is for another object.
void print_result(const CheckResult& result, const Machine& machine, const Terminal& terminal) {
  std::map<std::pair<State, std::string>, unsigned> alike;
  for (const Finding& finding : result.findings) ++alike[{finding.state, kind_of(finding)}];
  std::string told;
  for (const Finding& finding : result.findings) {
    if (finding.state == State::skip) continue;
    if (!is_fault(finding)) {
      unsigned& count = alike[{finding.state, kind_of(finding)}];
      if (count > 0) print_line(terminal, *result.check, finding, count - 1);
      count = 0;
      continue;
    }
    print_line(terminal, *result.check, finding, 0);
    const Advice& advice = *result.check->advice;
    const FaultObject object = object_of(finding.subject, machine);
    const std::string command =
        finding.command.empty() ? filled_or_plain(advice.remedy.command, object) : finding.command;
    if (command != told) print_advice(advice, command, filled_or_plain(advice.remedy.verify, object));
    told = command;
  }
}

/// What does not apply is told once for each reason.
void print_skipped(const Examination& examination, const Terminal& terminal) {
  std::map<std::string, std::string> checks;
  for (const CheckResult& result : examination.results) {
    for (const Finding& finding : result.findings) {
      if (finding.state != State::skip) continue;
      std::string& ids = checks[finding.text];
      if (ids.find(result.check->id) == std::string::npos)
        ids += (ids.empty() ? "" : ", ") + std::string(result.check->id);
    }
  }
  for (const auto& [reason, ids] : checks) {
    std::printf("%s %s\n       does not apply to %s\n", terminal.mark_of(State::skip).c_str(), reason.c_str(),
                ids.c_str());
  }
}

/// The checks with a finding of this state.
std::vector<std::string> checks_with(State state, const Examination& examination) {
  std::vector<std::string> ids;
  for (const CheckResult& result : examination.results) {
    for (const Finding& finding : result.findings) {
      if (finding.state != state) continue;
      ids.emplace_back(result.check->id);
      break;
    }
  }
  return ids;
}

/// The faults once more by name: their lines may be far above.
void print_fault_names(const Examination& examination) {
  for (const State state : {State::fail, State::warn}) {
    std::string ids;
    for (const std::string& id : checks_with(state, examination)) ids += (ids.empty() ? "" : ", ") + id;
    if (!ids.empty()) std::printf("in short: %s %s\n", state == State::fail ? "failed" : "warned", ids.c_str());
  }
}

/// Counts, and what to do next.
void print_end(const Examination& examination, const Machine& machine) {
  const auto count = [&](State state) { return examination.counts[static_cast<std::size_t>(state)]; };
  std::printf("%u ok, %u info, %u warnings, %u failures, %u unknown, %u not applicable\n", count(State::ok),
              count(State::info), count(State::warn), count(State::fail), count(State::unknown), count(State::skip));
  const auto unknown = checks_with(State::unknown, examination);
  if (!unknown.empty() && machine.view.is_live() && geteuid() != 0) {
    std::string ids;
    for (const std::string& id : unknown) ids += (ids.empty() ? "" : ",") + id;
    std::printf("%zu check(s) could not know all; root may: sudo gdrkit doctor%s%s --only %s\n", unknown.size(),
                examination.level == Level::quick ? "" : " --level ",
                examination.level == Level::quick ? "" : name_of(examination.level), ids.c_str());
  } else if (!unknown.empty()) {
    std::printf("%zu check(s) could not know all: ???? says why\n", unknown.size());
  }
  if (!examination.not_run.empty())
    std::printf("%zu more check(s) open devices: add --level probe\n", examination.not_run.size());
  if (count(State::warn) + count(State::fail) > 0) {
    std::printf("next: gdrkit doctor explain ID tells more; gdrkit doctor fix prints the remedies as a shell script\n");
  } else if (unknown.empty()) {
    std::printf("nothing to do\n");
  }
}

}  // namespace

void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal) {
  print_head(examination, machine);
  for (const CheckResult& result : examination.results) print_result(result, machine, terminal);
  print_skipped(examination, terminal);
  if (verdicts != nullptr) print_verdicts_text(*verdicts);
  print_fault_names(examination);
  print_end(examination, machine);
}

void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal) {
  for (const State state : {State::fail, State::warn}) {
    for (const CheckResult& result : examination.results) {
      for (const Finding& finding : result.findings) {
        if (finding.state == state) print_line(terminal, *result.check, finding, 0);
      }
    }
  }
  if (verdicts != nullptr) print_verdicts_text(*verdicts);
  print_end(examination, machine);
}

void print_list() {
  for (const Check& check : all_checks()) {
    std::printf("%-16s  %-9s  %s  %s\n", check.id, check.group, name_of(check.level), check.title);
  }
}

void print_explanation(const std::string& id) {
  for (const Check& check : all_checks()) {
    if (id != check.id) continue;
    std::printf("%s: %s\n\nreads\n  %s\n\nwhy it matters\n  %s\n\nremedy (%s)\n  %s\n\nhow to verify\n  %s\n", check.id,
                check.title, check.advice->reads, check.advice->why, conditions_of(check.advice->remedy).c_str(),
                check.advice->remedy.command, check.advice->remedy.verify);
    if (check.advice->steps.risk[0] != '\0') std::printf("\nwhat it may break\n  %s\n", check.advice->steps.risk);
    if (check.advice->trap[0] != '\0') std::printf("\nwhat may mislead\n  %s\n", check.advice->trap);
    return;
  }
  throw Failure(ExitCode::usage, format("no check is called '%s'; 'gdrkit doctor list' names all", id.c_str()));
}

}  // namespace gdrkit::tools::doctor
