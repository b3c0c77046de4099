// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Check: one line of checks.def, a function that turns a machine's facts into findings, and what to do about them.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/exit_code.hpp"
#include "diag/machine/machine.hpp"

namespace gdrkit::diag::doctor {

/// unknown: the fact could not be read or is malformed. It is never guessed and never reported as ok.
enum class State { ok, info, warn, fail, skip, unknown };
[[nodiscard]] const char* name_of(State state);

struct Remedy {
  const char* command;  ///< for a person: a command, or a change in words
  bool needs_root;
  bool needs_reboot;   ///< the command has no effect before a reboot
  bool survives_boot;  ///< of `command` alone: Steps::file may make it permanent
  const char* verify;  ///< a command whose output shows the effect
};

/// What `doctor fix` writes for a remedy, as root's commands and files. By default the remedy is written as a comment,
/// because it cannot be automated. ADDRESS, ADAPTER, PORT and INTERFACE are replaced by the finding's object where they
/// stand as separate words outside quotes.
struct Steps {
  const char* now = "";          ///< lines of POSIX shell that take effect at once
  const char* file = "";         ///< a file of our own (gdrkit-*) that makes the change permanent
  const char* text = "";         ///< the file's lines; a line that names the object is written once per object
  const char* enable = "";       ///< lines of POSIX shell to run after writing the file
  const char* boot_option = "";  ///< a word for the Linux command line
  const char* risk = "";         ///< what the remedy may break
  [[nodiscard]] bool is_manual() const noexcept { return now[0] == '\0' && file[0] == '\0' && boot_option[0] == '\0'; }
};

/// The text of a service of systemd that runs `command` at each start; `needs`: more lines of [Unit].
#define GDRKIT_SERVICE(description, needs, command) \
  "[Unit]\nDescription=" description "\n" needs     \
  "[Service]\nType=oneshot\nRemainAfterExit=yes\n"  \
  "ExecStart=/bin/sh -c \"exec " command "\"\n[Install]\nWantedBy=multi-user.target"
#define GDRKIT_ENABLE(service) "systemctl daemon-reload\nsystemctl enable " service

/// Options in modprobe.d affect a driver that is loaded from the initramfs only after it has been rebuilt. Debian and
/// Ubuntu use update-initramfs, Red Hat and SUSE dracut. Rebuilds for every installed Linux.
inline constexpr char rebuild_initramfs[] =
    "if command -v update-initramfs >/dev/null 2>&1; then\n"
    "  update-initramfs -u -k all\n"
    "elif command -v dracut >/dev/null 2>&1; then\n"
    "  dracut --force --regenerate-all\n"
    "fi";

/// Files that a recording holds, because a program or a check reads them.
struct RecordedPath {
  /// content: records whole files, and directories, links and device nodes unchanged. name: records only the existence.
  /// setpci: whole files that mention setpci. variables: records only the variables of snapshot/variables.def.
  enum class Kind { content, name, setpci, variables };
  Kind kind;
  const char* pattern;  ///< snapshot/paths.def explains *, {a,b} and $NAME
  const char* purpose;
};

/// Printed by `explain`, and as why and remedy below each warn and fail.
struct Advice {
  const char* reads;
  const char* why;
  Remedy remedy;
  const char* trap;  ///< possible misinterpretation; "" if none
  Steps steps{};
  std::vector<RecordedPath> paths{};  ///< files that the check reads and snapshot/paths.def does not list
};

struct Finding {
  State state;
  std::string subject;  ///< the object: a PCI address, a port, a file
  std::string text;     ///< the finding, with the value that was read
  std::string command;  ///< remedy for this object; "": the remedy of the advice
};

/// Collects findings. Each text is one printable line of bounded length, regardless of the file's contents.
class Findings {
 public:
  void add(State state, const std::string& subject, const std::string& text, const std::string& command = "");
  /// Adds a finding for a required fact that is missing.
  template <class T>
  void add_unknown(const std::string& subject, const topology::Fact<T>& fact) {
    add(State::unknown, subject, fact.reason);
  }
  [[nodiscard]] const std::vector<Finding>& all() const noexcept { return all_; }

 private:
  std::vector<Finding> all_;
};

struct Check {
  const char* id;
  const char* group;
  const char* title;
  Level level;
  bool is_required;  ///< an unknown makes the whole verdict unknown: exit code 3
  const Advice* advice;
  void (*run)(const Machine& machine, Findings& findings);
};

#define GDRKIT_CHECK(name, id, group, level, required, title) \
  extern const Advice advice_##name;                          \
  void check_##name(const Machine& machine, Findings& findings);
#include "diag/doctor/checks.def"
#undef GDRKIT_CHECK

[[nodiscard]] const std::vector<Check>& all_checks();

/// The machine's GPUs. If there are none, adds a finding: skip, or unknown if the list cannot be read.
[[nodiscard]] const std::vector<PciDevice>& gpus_or_skip(const Machine& machine, Findings& findings);
[[nodiscard]] const std::vector<Adapter>& adapters_or_skip(const Machine& machine, Findings& findings);
/// GPUs, then the adapters' devices, each once.
[[nodiscard]] std::vector<PciDevice> devices_or_skip(const Machine& machine, Findings& findings);

/// The GPUs that both PCI and NVML show. Adds findings if there are none, if NVML could not open some, or if NVML hides
/// some from this process. A container that was given some GPUs sees all of them in sysfs.
[[nodiscard]] std::vector<const NvmlGpu*> nvml_gpus_or_skip(const Machine& machine, Findings& findings);

/// The facts of the whole machine if it has a GPU; nullptr after adding a finding with the reason.
[[nodiscard]] const NvmlFacts* nvml_or_skip(const Machine& machine, Findings& findings);

/// Returns false after adding a finding for a missing fact. absent means that the GPU does not have the feature (skip,
/// with `what`).
template <class T>
[[nodiscard]] bool take(const std::string& subject, const topology::Fact<T>& fact, const char* what,
                        Findings& findings) {
  if (fact.is_absent()) findings.add(State::skip, subject, what);
  if (fact.is_unknown()) findings.add_unknown(subject, fact);
  return fact.is_found();
}

}  // namespace gdrkit::diag::doctor
