// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/doctor/doctor_text.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "diag/doctor/fix/fault_object.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::diag::doctor {
namespace {

struct Fault {
  const Finding* finding;
  FaultObject object;
};

/// A check with its warnings and failures.
struct Case {
  const Check* check;
  std::vector<Fault> faults;
  [[nodiscard]] const Steps& steps() const { return check->advice->steps; }
};

std::vector<Case> cases_of(const Examination& examination, const Machine& machine) {
  std::vector<Case> cases;
  for (const CheckResult& result : examination.results) {
    Case one{result.check, {}};
    for (const Finding& finding : result.findings) {
      if (finding.state != State::warn && finding.state != State::fail) continue;
      one.faults.push_back({&finding, object_of(finding.subject, machine)});
    }
    if (!one.faults.empty()) cases.push_back(std::move(one));
  }
  return cases;
}

/// `text` for each object, without duplicates. Text that cannot be filled becomes a comment with the reason.
std::string commands(const std::string& text, const Case& one) {
  std::string result;
  std::set<std::string> written;
  for (const Fault& fault : one.faults) {
    const auto command = filled(text, fault.object, Quoting::shell);
    std::string block = command.has_value() ? *command + "\n" : "";
    if (!command.has_value()) {
      block = shell_comment("cannot write the command for '" + fault.finding->subject +
                            "', because the value of an upper-case word in it is unknown:");
      for (const std::string& line : split(text, '\n')) block += shell_comment(line, 3);
      block += shell_comment(std::string("to do: ") + one.check->advice->remedy.command, 3);
    }
    if (written.insert(block).second) result += block;
  }
  return result;
}

bool has_code(const std::string& text) {
  const auto lines = split(text, '\n');
  return std::ranges::any_of(lines, [](const auto& line) { return !line.empty() && line[0] != '#'; });
}

/// Start of a part: if a command fails, the output shows to which check it belongs.
std::string begin(const Check& check) { return std::string("step ") + check.id + "\n"; }

/// Who must apply a remedy that cannot be automated. A job's setting may be in one of root's files.
const char* responsible_for(const Check& check, const std::string& remedy) {
  return check.advice->remedy.needs_root || remedy.find("/etc/") != std::string::npos ? "by the administrator"
                                                                                      : "by the owner of the job";
}

/// The command that runs these checks again, at the required level.
std::string verify_command(const std::vector<Case>& cases, const std::optional<std::size_t>& expected_gpus) {
  Level level = Level::quick;
  std::string ids;
  for (const Case& one : cases) {
    level = std::max(level, one.check->level);
    ids += (ids.empty() ? "" : ",") + std::string(one.check->id);
  }
  return "gdrkit doctor" + (level == Level::quick ? "" : std::string(" --level ") + name_of(level)) + " --only " + ids +
         (expected_gpus.has_value() ? " --expect-gpus " + std::to_string(*expected_gpus) : "");
}

std::string undo_of(const std::string& file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  const bool is_service = name.find(".service") != std::string::npos;
  return (is_service ? "systemctl disable " + name + "; " : "") + "rm " + file;
}

class Writer {
 public:
  Writer(const Examination& examination, const Machine& machine)
      : examination_(examination), cases_(cases_of(examination, machine)), expected_gpus_(machine.expected_gpus) {
    const auto name = machine.view.line("/proc/sys/kernel/hostname");
    if (name.is_found()) host_ = name.value;
  }

  std::string write() {
    std::string parts = now();  // in order: the first mention of a check is complete
    parts += lasting();
    parts += boot_options();
    parts += by_hand();
    const bool runs = has_code(parts);
    std::string text = head();
    if (cases_.empty()) return text + "echo 'gdrkit doctor: nothing to fix'\n";
    if (runs) {
      text += preamble();
    } else {
      text += "echo 'gdrkit doctor: no remedy can be automated; read the comments of this script'\n";
    }
    return text + parts + verify(runs);
  }

 private:
  std::string head() const {
    const auto count = [&](State state) { return examination_.counts[static_cast<std::size_t>(state)]; };
    std::string text = "#!/bin/sh\n";
    text += shell_comment(
        cli::format("Remedies of 'gdrkit doctor' %s for %s, from %s: %u failure(s), %u warning(s), %u unknown.",
                    gdrkit_version(), host_.empty() ? "this host" : host_.c_str(), examination_.root.c_str(),
                    count(State::fail), count(State::warn), count(State::unknown)));
    text += shell_comment(
        "gdrkit has changed nothing. Read every part, remove the parts that you do not need, then run the script as "
        "root.");
    for (const CheckResult& result : examination_.results) {
      const bool has_fault = std::ranges::any_of(cases_, [&](const Case& one) { return one.check == result.check; });
      for (const Finding& finding : result.findings) {
        if (has_fault || finding.state != State::unknown) continue;
        text +=
            shell_comment(std::string("unknown: ") + result.check->id + " " + finding.subject + ": " + finding.text);
      }
    }
    return text + "set -eu\n\n";
  }

  std::string preamble() const {
    std::string text = "if [ \"$(id -u)\" -ne 0 ]; then\n  echo 'this script must be run as root' >&2\n  exit 1\nfi\n";
    if (const auto word = shell_word(host_); word.has_value()) {
      text += "if [ \"$(uname -n)\" != " + *word + " ]; then\n  echo 'this script was written for the host " + host_ +
              "' >&2\n  exit 1\nfi\n";
    }
    return text + "step() { printf 'gdrkit fix: %s\\n' \"$1\"; }\n";
  }

  static std::string title(const std::string& text) { return "\n# ==== " + text + "\n"; }

  /// Findings, why, conditions and risk. A check that was printed before is only referenced by its ID.
  std::string description(const Case& one) {
    std::string text = "\n";
    if (!described_.insert(one.check->id).second)
      return text + shell_comment(std::string(one.check->id) + ": see above");
    for (const Fault& fault : one.faults) {
      text +=
          shell_comment(std::string(fault.finding->state == State::fail ? "FAIL " : "warn ") + one.check->id + " " +
                        fault.finding->subject + (fault.finding->subject.empty() ? "" : ": ") + fault.finding->text);
    }
    text += shell_comment(std::string("why: ") + one.check->advice->why, 3);
    text += shell_comment("conditions: " + conditions_of(one.check->advice->remedy), 3);
    if (one.steps().risk[0] != '\0') text += shell_comment(std::string("risk: ") + one.steps().risk, 3);
    if (one.check->advice->trap[0] != '\0') text += shell_comment(std::string("mind: ") + one.check->advice->trap, 3);
    return text;
  }

  std::string now() {
    std::string text;
    for (const Case& one : cases_) {
      if (one.steps().now[0] == '\0') continue;
      const std::string block = commands(one.steps().now, one);
      text += description(one) + (has_code(block) ? begin(*one.check) : "") + block;
    }
    return text.empty() ? "" : title("Now: these commands take effect at once and are lost at the next boot") + text;
  }

  /// The lines of a file that several checks may share, for the objects of all of them.
  std::string content(const Steps& steps) const {
    std::string text;
    for (const std::string& line : split(steps.text, '\n')) {
      std::set<std::string> written;
      for (const Case& one : cases_) {
        if (std::string(one.steps().file) != steps.file) continue;
        for (const Fault& fault : one.faults) {
          const auto full = filled(line, fault.object, Quoting::none);
          if (full.has_value() && written.insert(*full).second) text += *full + "\n";
        }
      }
      if (written.empty()) return "";  // no object of this line is known
    }
    return text;
  }

  std::string lasting() {
    std::string text;
    std::set<std::string> files;
    for (const Case& one : cases_) {
      const Steps& steps = one.steps();
      const std::string file = steps.file;
      if (file.empty()) continue;
      text += description(one);
      const std::string lines = content(steps);
      if (lines.empty()) {
        text += shell_comment(file + " is not written: the device is unknown");
      } else if (files.insert(file).second) {
        text += begin(*one.check) + "mkdir -p " + file.substr(0, file.rfind('/')) + "\ncat > " + file +
                " <<'END_OF_FILE'\n" + lines + "END_OF_FILE\n" + steps.enable + (steps.enable[0] == '\0' ? "" : "\n") +
                shell_comment("undo: " + undo_of(file));
      } else {
        text += shell_comment(file + " is written above");
      }
    }
    return text.empty() ? "" : title("For the next boots: new files, which overwrite none of yours") + text;
  }

  std::string boot_options() {
    std::string text;
    std::string options;
    for (const Case& one : cases_) {
      const std::string option = one.steps().boot_option;
      if (option.empty()) continue;
      text += description(one);
      if (!has_word(options, option)) options += (options.empty() ? "" : " ") + option;
    }
    if (text.empty()) return "";
    text += "\n" + shell_comment("add to the Linux command line: " + options);
    text += shell_comment("Debian, Ubuntu: in GRUB_CMDLINE_LINUX of /etc/default/grub, then update-grub", 3);
    text += shell_comment("Red Hat: grubby --update-kernel=ALL --args='" + options + "'", 3);
    if (options.find("iommu=pt") != std::string::npos)
      text += shell_comment("on arm64 use iommu.passthrough=1 instead of iommu=pt", 3);
    return title(
               "Linux boot options: set them manually, since this script does not support boot loaders; then reboot") +
           text;
  }

  std::string by_hand() {
    std::string text;
    for (const Case& one : cases_) {
      if (!one.steps().is_manual()) continue;
      text += description(one);
      std::set<std::string> remedies;
      for (const Fault& fault : one.faults) {
        const std::string own = fault.finding->command;
        const std::string& remedy = own.empty() ? one.check->advice->remedy.command : own;
        const std::string full = filled(remedy, fault.object, Quoting::none).value_or(remedy);
        if (remedies.insert(full).second)
          text += shell_comment(std::string("to do, ") + responsible_for(*one.check, full) + ": " + full, 3);
      }
    }
    return text.empty() ? "" : title("By hand") + text;
  }

  std::string verify(bool runs) const {
    std::string text = title("Verify (after the reboot or the new login that a remedy needs)");
    for (const Case& one : cases_) {
      const std::string command = one.check->advice->remedy.verify;
      std::set<std::string> written;
      for (const Fault& fault : one.faults) {
        const std::string full = filled(command, fault.object, Quoting::none).value_or(command);
        if (written.insert(full).second) text += shell_comment(std::string(one.check->id) + ": " + full);
      }
    }
    const std::string again = verify_command(cases_, expected_gpus_);
    if (!runs) return text + shell_comment("all: " + again);
    return text + "if command -v gdrkit >/dev/null 2>&1; then\n  step verify\n  " + again +
           "\nelse\n  echo 'to verify: " + again + "'\nfi\n";
  }

  const Examination& examination_;
  std::vector<Case> cases_;
  std::optional<std::size_t> expected_gpus_;
  std::string host_;
  std::set<std::string> described_;
};

}  // namespace

std::string write_script(const Examination& examination, const Machine& machine) {
  return Writer(examination, machine).write();
}

}  // namespace gdrkit::diag::doctor
