// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// doctor: looks at the machine, or at a recording of one, and says what is wrong with its evidence and the remedy.
#include <cstdio>
#include <map>

#include "gdrkit/gdrkit.h"
#include "tools/common/command_line.hpp"
#include "tools/doctor/examination.hpp"
#include "tools/doctor/fix/script.hpp"

namespace gdrkit::tools {
namespace doctor {
namespace {

const char* mark_of(State state) {
  constexpr const char* marks[] = {"ok  ", "info", "warn", "FAIL", "skip", "????"};
  return marks[static_cast<std::size_t>(state)];
}

void print_advice(const Advice& advice, const std::string& command) {
  std::printf("       why     %s\n       remedy  %s\n               (%s)\n       verify  %s\n", advice.why,
              command.empty() ? advice.remedy.command : command.c_str(), conditions_of(advice.remedy).c_str(),
              advice.remedy.verify);
}

/// One line a finding; the advice follows where it is first needed, or where the remedy is for another object.
void print_result(const CheckResult& result) {
  std::string told;
  for (const Finding& finding : result.findings) {
    if (finding.state == State::skip) continue;
    std::printf("%s %-14s %s%s%s\n", mark_of(finding.state), result.check->id, finding.subject.c_str(),
                finding.subject.empty() ? "" : ": ", finding.text.c_str());
    if (finding.state != State::warn && finding.state != State::fail) continue;
    const std::string command = finding.command.empty() ? result.check->advice->remedy.command : finding.command;
    if (command != told) print_advice(*result.check->advice, command);
    told = command;
  }
}

/// What does not apply is told once for each reason.
void print_skipped(const Examination& examination) {
  std::map<std::string, std::string> checks;
  for (const CheckResult& result : examination.results) {
    for (const Finding& finding : result.findings) {
      if (finding.state != State::skip) continue;
      std::string& ids = checks[finding.text];
      if (ids.find(result.check->id) == std::string::npos)
        ids += (ids.empty() ? "" : ", ") + std::string(result.check->id);
    }
  }
  for (const auto& [reason, ids] : checks)
    std::printf("skip %s\n       does not apply to %s\n", reason.c_str(), ids.c_str());
}

void print_text(const Examination& examination) {
  std::printf(
      "gdrkit doctor %s: looked at %s for %zu check(s): %zu PCI devices, %zu NVIDIA GPU(s), %zu RDMA adapter(s)\n",
      gdrkit_version(), examination.root.c_str(), examination.results.size(), examination.pci_count,
      examination.gpu_count, examination.adapter_count);
  for (const CheckResult& result : examination.results) print_result(result);
  print_skipped(examination);
  const auto count = [&](State state) { return examination.counts[static_cast<std::size_t>(state)]; };
  std::printf("%u ok, %u info, %u warnings, %u failures, %u unknown, %u not applicable\n", count(State::ok),
              count(State::info), count(State::warn), count(State::fail), count(State::unknown), count(State::skip));
  if (!examination.not_run.empty())
    std::printf("%zu more check(s) open devices: add --level probe\n", examination.not_run.size());
}

ExitCode print_list() {
  for (const Check& check : all_checks()) {
    std::printf("%-14s  %-9s  %s  %s\n", check.id, check.group, name_of(check.level), check.title);
  }
  return ExitCode::ok;
}

ExitCode explain(const std::string& id) {
  for (const Check& check : all_checks()) {
    if (id != check.id) continue;
    std::printf("%s: %s\n\nreads\n  %s\n\nwhy it matters\n  %s\n\nremedy (%s)\n  %s\n\nhow to verify\n  %s\n", check.id,
                check.title, check.advice->reads, check.advice->why, conditions_of(check.advice->remedy).c_str(),
                check.advice->remedy.command, check.advice->remedy.verify);
    if (check.advice->trap[0] != '\0') std::printf("\nwhat may mislead\n  %s\n", check.advice->trap);
    return ExitCode::ok;
  }
  throw Failure(ExitCode::usage, format("no check is called '%s'; 'gdrkit doctor list' names all", id.c_str()));
}

}  // namespace
}  // namespace doctor

ExitCode run_doctor(Face face, int argc, char** argv) {
  doctor::Selection selection;
  std::vector<std::string> words;
  std::string root = "/";
  std::string level = "quick";
  bool is_json = false;
  bool is_strict = false;
  CommandLine line;
  line.name = "doctor";
  line.summary =
      "What is wrong with this machine for GPUDirect, with the evidence and the remedy. Changes nothing, and reads "
      "files only unless --level probe is given.";
  line.exit_codes =
      "0 no failure, 1 failures, 2 wrong usage, 3 required facts could not be read, 4 --root is no recording";
  line.example =
      "gdrkit doctor\n  gdrkit doctor --level probe\n  gdrkit doctor --only pcie,acs.redirect --json\n  gdrkit doctor "
      "explain acs.redirect\n  gdrkit doctor fix > remedies.sh\n  gdrkit doctor --root RECORDING --strict";
  line.options = {
      {'\0', "only", "LIST", &selection.only, "these checks: IDs, groups or starts of IDs (acs*), with commas between",
       false},
      {'\0', "skip", "LIST", &selection.skip, "not these checks", false},
      {'\0', "level", "LEVEL", &level, "quick (reads files) or probe (also opens devices and asks NVIDIA's libraries)", false},
      {'\0', "strict", "", &is_strict, "warnings count as failures, everything unknown as a required fact", false},
      {'\0', "root", "FOLDER|ARCHIVE", &root, "read a recording of a machine instead of this one", false},
      {'\0', "json", "", &is_json, "print one JSON document (tools/doctor/README.md) and no text", false},
  };
  line.operands = {
      &words, "list | explain ID | fix [ID...]",
      "list: name all checks; explain ID: what one reads, why, and the remedy; fix: print a shell script of "
      "the remedies, of all findings or of the checks named (0: printed; nothing is run)"};
  if (const auto ended = parse(line, face, argc, argv)) return *ended;
  if (words.size() == 1 && words[0] == "list") return doctor::print_list();
  if (words.size() == 2 && words[0] == "explain") return doctor::explain(words[1]);
  const bool is_fix = !words.empty() && words[0] == "fix";
  if (is_fix) {
    if (is_json)
      throw Failure(ExitCode::usage, "fix prints a shell script, no JSON: 'gdrkit doctor --json' has the remedies");
    selection.only.insert(selection.only.end(), words.begin() + 1, words.end());
  } else if (!words.empty()) {
    throw Failure(ExitCode::usage,
                  format("'%s' is neither 'list' nor 'explain ID' nor 'fix [ID...]'", words[0].c_str()));
  }
  if (level != "quick" && level != "probe")
    throw Failure(ExitCode::usage, format("--level %s: it is quick or probe", level.c_str()));
  selection.level = level == "probe" ? Level::probe : Level::quick;
  const auto checks = doctor::select(selection);
  const MachineView view = open_view(root);
  doctor::refuse_without_probe(selection, view);
  const auto examination = doctor::examine(view, root, checks, selection.level, is_strict);
  if (is_fix) {
    std::fputs(doctor::write_script(examination, Machine(view)).c_str(), stdout);
    return ExitCode::ok;
  }
  if (is_json) {
    doctor::print_examination_json(examination);
  } else {
    doctor::print_text(examination);
  }
  return examination.code;
}

}  // namespace gdrkit::tools
