// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/doctor_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/fix/fault_object.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::doctor {
namespace {

bool is_fault(const Finding& finding) { return finding.state == State::warn || finding.state == State::fail; }

void print_wrapped(const std::string& first, const std::string& rest, const std::string& text) {
  std::fputs(cli::wrapped(first, rest, text).c_str(), stdout);
}

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
    if (!value.empty()) return plain(value, longest_name);
  }
  return "unknown distribution";
}

std::string model_of(const Machine& machine, const PciDevice& gpu) {
  const auto text = machine.view.text("/proc/driver/nvidia/gpus/" + gpu.address + "/information");
  const auto model = labelled(text, "Model");
  if (model.is_found() && !model.value.empty()) return plain(model.value, longest_name);
  return cli::format("device 0x%04llx", static_cast<unsigned long long>(gpu.device));
}

std::string model_of(const Machine& machine, const Adapter& adapter) {
  const auto kind = machine.view.line(adapter.directory + "/hca_type");
  if (kind.is_found()) return plain(kind.value, longest_name);
  return adapter.pci.address.empty()
             ? "no PCI device"
             : cli::format("device 0x%04llx", static_cast<unsigned long long>(adapter.pci.device));
}

/// "2 RDMA adapters: 2 x MT4129"
template <class Device>
std::string counted_models(const Machine& machine, const std::vector<Device>& devices, const char* what) {
  std::map<std::string, unsigned> models;
  for (const Device& device : devices) ++models[model_of(machine, device)];
  std::string text = cli::counted(devices.size(), what);
  const char* separator = ": ";
  for (const auto& [model, number] : models) {
    text += cli::format("%s%u x %s", separator, number, model.c_str());
    separator = ", ";
  }
  return text;
}

std::string name_of(const MachineView& view) {
  for (const char* path : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
    if (const std::string name = plain(view.line(path).value, longest_name); !name.empty()) return name;
  }
  return view.is_live() ? "this host" : "a recorded machine";
}

void print_head(const Examination& examination, const Machine& machine) {
  const std::string linux_version = plain(read_linux_version(machine.view).value.text, longest_name);
  print_wrapped(
      "", "  ",
      cli::format("gdrkit doctor %s on %s (%s, Linux %s): %s, root %s", gdrkit_version(), name_of(machine.view).c_str(),
                  distribution(machine.view).c_str(), linux_version.empty() ? "unknown" : linux_version.c_str(),
                  cli::counted(examination.results.size(), "check").c_str(), cli::printable(examination.root).c_str()));
  print_wrapped("", "  ",
                counted_models(machine, machine.gpus, "NVIDIA GPU") + "; " +
                    counted_models(machine, machine.adapters, "RDMA adapter") + "; " +
                    cli::counted(examination.pci_count, "PCI device"));
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

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
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

Terminal Terminal::from_environment(bool is_terminal) {
  if (!variable("NO_COLOR").empty()) return Terminal(false);
  const std::string force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return Terminal(true);
  const std::string kind = variable("TERM");
  return Terminal(is_terminal && !kind.empty() && kind != "dumb");
}

std::string Terminal::mark_of(State state) const {
  constexpr const char* marks[] = {"ok  ", "info", "warn", "FAIL", "skip", "????"};
  constexpr const char* colours[] = {"32", "36", "33", "1;31", "2", "35"};
  const auto index = static_cast<std::size_t>(state);
  if (!has_colour_) return marks[index];
  return std::string("\x1b[") + colours[index] + "m" + marks[index] + "\x1b[0m";
}

}  // namespace gdrkit::diag::doctor
