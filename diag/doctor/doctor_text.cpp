// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/doctor_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/fix/fault_object.hpp"
#include "diag/doctor/host_facts.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::doctor {
namespace {

bool is_fault(const Finding& finding) { return finding.state == State::warn || finding.state == State::fail; }

void print_wrapped(const std::string& first, const std::string& rest, const std::string& text) {
  std::fputs(cli::wrapped(first, rest, text).c_str(), stdout);
}

void print_head(const Examination& examination, const Machine& machine) {
  const HostFacts facts = read_host_facts(machine);
  const std::string name = !facts.name.empty()      ? facts.name
                           : machine.view.is_live() ? "this host"
                                                    : "a recorded machine";
  print_wrapped(
      "", "  ",
      cli::format("gdrkit doctor %s on %s (%s, Linux %s): %s, root %s", gdrkit_version(), name.c_str(),
                  facts.distribution.empty() ? "unknown distribution" : facts.distribution.c_str(),
                  facts.linux_version.empty() ? "unknown" : facts.linux_version.c_str(),
                  cli::counted(examination.results.size(), "check").c_str(), cli::printable(examination.root).c_str()));
  print_wrapped("", "  ",
                facts.gpus + "; " + facts.adapters + "; " + cli::counted(examination.pci_count, "PCI device"));
}

/// "2 failures, 1 warning, 3 unknown, 0 info, 61 ok, 33 do not apply"
void print_counts(const Examination& examination) {
  const auto count = [&](State state) { return examination.counts[static_cast<std::size_t>(state)]; };
  std::printf("%s, %s, %u unknown, %u info, %u ok, %u do%s not apply\n",
              cli::counted(count(State::fail), "failure").c_str(), cli::counted(count(State::warn), "warning").c_str(),
              count(State::unknown), count(State::info), count(State::ok), count(State::skip),
              count(State::skip) == 1 ? "es" : "");
}

constexpr const char* indent = "       ";
constexpr const char* indent_of_advice = "               ";

void print_advice(const Advice& advice, const std::string& command, const std::string& verify) {
  const std::string start = indent;
  print_wrapped(start + "why     ", indent_of_advice, advice.why);
  print_wrapped(start + "remedy  ", indent_of_advice, command);
  print_wrapped(indent_of_advice, indent_of_advice, "(" + conditions_of(advice.remedy) + ")");
  print_wrapped(start + "verify  ", indent_of_advice, verify);
}

/// `text` with the finding's object in place of ADDRESS, ADAPTER etc. Returns the text unchanged if one of them is
/// unknown, or if it means both a device and its port.
std::string filled_or_plain(const std::string& text, const FaultObject& object) {
  if (text.find("ADDRESS") != std::string::npos && text.find("PORT") != std::string::npos) return text;
  return cli::printable(filled(text, object, Quoting::none).value_or(text));
}

/// The text without the object's name. Findings that differ only in the name are printed as one line.
std::string kind_of(const Finding& finding) {
  std::string kind = finding.text;
  if (finding.subject.empty()) return kind;
  for (auto at = kind.find(finding.subject); at != std::string::npos; at = kind.find(finding.subject, at + 1))
    kind.replace(at, finding.subject.size(), "\x01");
  return kind;
}

void print_line(const Terminal& terminal, const Check& check, const Finding& finding, unsigned others) {
  const std::string more = others == 0 ? "" : cli::format(" and %u more", others);
  // The text may already begin with the object: "/proc/cmdline: No such file".
  const bool is_in_text = others == 0 && finding.text.starts_with(finding.subject + ":");
  const std::string subject = is_in_text || finding.subject.empty() ? "" : finding.subject + more + ": ";
  print_wrapped(terminal.mark_of(finding.state) + " ", indent,
                cli::format("%-16s ", check.id) + subject + finding.text);
}

/// Prints the findings of one check in `state`: one line per fault, and one line for all others with the same text. The
/// advice follows the first fault, and each fault whose remedy differs.
void print_result(const CheckResult& result, State state, const Machine& machine, const Terminal& terminal) {
  std::map<std::string, unsigned> alike;
  for (const Finding& finding : result.findings) {
    if (finding.state == state) ++alike[kind_of(finding)];
  }
  std::string printed;
  for (const Finding& finding : result.findings) {
    if (finding.state != state) continue;
    if (!is_fault(finding)) {
      unsigned& count = alike[kind_of(finding)];
      if (count > 0) print_line(terminal, *result.check, finding, count - 1);
      count = 0;
      continue;
    }
    print_line(terminal, *result.check, finding, 0);
    const Advice& advice = *result.check->advice;
    const FaultObject object = object_of(finding.subject, machine);
    const std::string command =
        finding.command.empty() ? filled_or_plain(advice.remedy.command, object) : finding.command;
    if (command != printed) print_advice(advice, command, filled_or_plain(advice.remedy.verify, object));
    printed = command;
  }
}

/// Each reason once, with the checks that do not apply for that reason.
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
    print_wrapped(terminal.mark_of(State::skip) + " ", "     ", reason);
    print_wrapped(indent, indent, "does not apply to " + ids);
  }
}

std::size_t checks_with(State state, const Examination& examination) {
  const auto has_it = [&](const CheckResult& result) {
    return std::ranges::any_of(result.findings, [&](const Finding& finding) { return finding.state == state; });
  };
  return static_cast<std::size_t>(std::ranges::count_if(examination.results, has_it));
}

/// What was not run or not shown, and the next commands.
void print_end(const Examination& examination, const Machine& machine, bool is_verbose) {
  const auto count = [&](State state) { return examination.counts[static_cast<std::size_t>(state)]; };
  if (!is_verbose && count(State::ok) + count(State::skip) > 0)
    std::printf("--verbose also lists what is ok and what does not apply\n");
  const std::size_t unknown = checks_with(State::unknown, examination);
  if (unknown > 0 && machine.view.is_live() && geteuid() != 0) {
    std::printf("%s could not read all facts; run gdrkit as root: sudo gdrkit doctor%s%s\n",
                cli::counted(unknown, "check").c_str(), examination.level == Level::quick ? "" : " --level ",
                examination.level == Level::quick ? "" : name_of(examination.level));
  } else if (unknown > 0) {
    std::printf("%s could not read all facts; lines with ???? give the reason\n",
                cli::counted(unknown, "check").c_str());
  }
  if (!examination.not_run.empty())
    std::printf("%s not run, because they open devices; add --level probe\n",
                cli::counted(examination.not_run.size(), "check").c_str());
  if (count(State::warn) + count(State::fail) > 0) {
    std::printf(
        "next: 'gdrkit doctor explain ID' explains a check; 'gdrkit doctor fix' prints the remedies as a script\n");
  } else if (unknown == 0) {
    std::printf("nothing to do\n");
  }
}

}  // namespace

void print_examination_text(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                            const Terminal& terminal, bool is_verbose) {
  print_head(examination, machine);
  print_counts(examination);
  std::printf("\n");
  for (const State state : {State::fail, State::warn, State::unknown, State::info, State::ok}) {
    if (state == State::ok && !is_verbose) continue;
    for (const CheckResult& result : examination.results) print_result(result, state, machine, terminal);
  }
  if (is_verbose) print_skipped(examination, terminal);
  std::printf("\n");
  if (verdicts != nullptr) print_verdicts_text(*verdicts);
  print_end(examination, machine, is_verbose);
}

void print_examination_short(const Examination& examination, const Machine& machine, const Verdicts* verdicts,
                             const Terminal& terminal) {
  print_counts(examination);
  for (const State state : {State::fail, State::warn}) {
    for (const CheckResult& result : examination.results) {
      for (const Finding& finding : result.findings) {
        if (finding.state == state) print_line(terminal, *result.check, finding, 0);
      }
    }
  }
  if (verdicts != nullptr) print_verdicts_text(*verdicts);
  print_end(examination, machine, true);
}

void print_list() {
  for (const Check& check : all_checks()) {
    std::printf("%-16s  %-11s  %-5s  %s\n", check.id, check.group, name_of(check.level), check.title);
  }
}

void print_explanation(const Check& check) {
  const Advice& advice = *check.advice;
  print_wrapped("", "  ", std::string(check.id) + ": " + check.title);
  const auto part = [](const std::string& title, const char* text) {
    if (text[0] == '\0') return;
    std::printf("\n%s\n", title.c_str());
    print_wrapped("  ", "  ", text);
  };
  part("reads", advice.reads);
  part("why it matters", advice.why);
  part("remedy (" + conditions_of(advice.remedy) + ")", advice.remedy.command);
  part("how to verify", advice.remedy.verify);
  part("what it may break", advice.steps.risk);
  part("possible misinterpretation", advice.trap);
}

}  // namespace gdrkit::diag::doctor
