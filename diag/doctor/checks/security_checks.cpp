// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group security: mechanisms that refuse kernel modules and register changes.
#include <sstream>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {
namespace {

const char* const variables_directory = "/sys/firmware/efi/efivars";
const char* const secure_boot_variable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// The modules required by GPUDirect that are not loaded: "nvidia, gdrdrv".
Fact<std::string> missing_modules(const Machine& machine) {
  Fact<std::string> missing;
  missing.outcome = Outcome::found;
  for (const char* name : {"nvidia", "gdrdrv"}) {
    const auto directory = machine.view.node(std::string("/sys/module/") + name);
    if (directory.is_unknown()) return {directory.outcome, "", directory.reason};
    if (directory.is_absent()) missing.value += (missing.value.empty() ? "" : ", ") + std::string(name);
  }
  return missing;
}

}  // namespace

const Advice advice_sec_lockdown = {
    "/sys/kernel/security/lockdown",
    "lockdown forbids unsigned kernel modules and changes of PCI registers: gdrdrv and the setpci remedies may be "
    "refused",
    {"sign the modules and enrol their key (sudo mokutil --import KEY), and set PCI options on the Linux command line",
     true, true, true, "cat /sys/kernel/security/lockdown"},
    "if the file does not exist, there is no lockdown",
    {},
    {{RecordedPath::Kind::content, "/sys/kernel/security/lockdown", "lockdown"}}};

void check_sec_lockdown(const Machine& machine, Findings& findings) {
  const auto line = machine.view.line("/sys/kernel/security/lockdown");
  if (line.is_absent()) return findings.add(State::ok, "lockdown", "no /sys/kernel/security/lockdown");
  if (!line.is_found()) return findings.add_unknown("", line);
  const bool is_none = line.value.find("[none]") != std::string::npos;
  const bool is_some =
      line.value.find("[integrity]") != std::string::npos || line.value.find("[confidentiality]") != std::string::npos;
  findings.add(is_none ? State::ok : is_some ? State::warn : State::unknown, "lockdown", line.value);
}

const Advice advice_sec_secureboot = {
    "the firmware variable SecureBoot in /sys/firmware/efi/efivars, and whether nvidia and gdrdrv are loaded",
    "with Secure Boot, Linux refuses kernel modules that are not signed with a key that the firmware trusts",
    {"run sudo mokutil --import KEY   # the key of DKMS: /var/lib/shim-signed/mok/MOK.der or /var/lib/dkms/mok.pub; "
     "confirm it at the next boot",
     true, true, true, "mokutil --sb-state; sudo modprobe gdrdrv"},
    "a module may be missing for another reason; if Secure Boot is the reason, modprobe prints 'Key was rejected by "
    "service'",
    {},
    {{RecordedPath::Kind::content, "/sys/firmware/efi/efivars/SecureBoot-*", "Secure Boot"}}};

void check_sec_secureboot(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto directory = machine.view.names(variables_directory);
  if (directory.is_absent() && machine.view.presence("/sys/firmware/efi") == Outcome::absent) {
    return findings.add(State::ok, "Secure Boot", "is off: this machine did not boot with UEFI");
  }
  if (!directory.is_found() || directory.value.empty()) {
    return findings.add(
        State::unknown, "Secure Boot",
        directory.is_found() ? std::string(variables_directory) + " is empty: not mounted" : directory.reason);
  }
  // Four bytes of attributes, then the value.
  const auto variable = machine.view.bytes(secure_boot_variable, 8);
  if (variable.is_absent()) return findings.add(State::ok, "Secure Boot", "the firmware has no variable SecureBoot");
  if (!variable.is_found()) return findings.add_unknown("Secure Boot", variable);
  if (variable.value.size() != 5 || variable.value[4] > 1) {
    return findings.add(State::unknown, "Secure Boot",
                        std::string(secure_boot_variable) + " does not contain 5 bytes with 0 or 1 as the last byte");
  }
  if (variable.value[4] == 0) return findings.add(State::ok, "Secure Boot", "is off");
  const auto missing = missing_modules(machine);
  if (!missing.is_found()) return findings.add_unknown("Secure Boot", missing);
  findings.add(
      missing.value.empty() ? State::ok : State::warn, "Secure Boot",
      missing.value.empty() ? "is on, and nvidia and gdrdrv are loaded" : "is on; not loaded: " + missing.value);
}

const Advice advice_sec_sle = {
    "allow_unsupported_modules in modprobe.d, on SUSE Linux Enterprise, and whether nvidia and gdrdrv are loaded",
    "with allow_unsupported_modules 0, modprobe does not load kernel modules that SUSE does not support, such as a "
    "gdrdrv built from source",
    {"set allow_unsupported_modules 1 in /etc/modprobe.d/10-unsupported-modules.conf", true, false, true,
     "modprobe -c | grep allow_unsupported_modules"},
    "packaged drivers may be marked as supported and load anyway",
    {.file = "/etc/modprobe.d/zz-gdrkit-unsupported-modules.conf",  // the last of several lines counts
     .text = "allow_unsupported_modules 1",
     .risk = "SUSE gives no support for a machine that has loaded such a module; load the modules afterwards"}};

void check_sec_sle(const Machine& machine, Findings& findings) {
  auto release = machine.view.text("/etc/os-release");
  if (release.is_absent()) release = machine.view.text("/usr/lib/os-release");
  if (release.is_absent()) return findings.add(State::skip, "", "no os-release: not SUSE Linux Enterprise");
  if (!release.is_found()) return findings.add_unknown("os-release", release);
  const std::string padded = "\n" + release.value;
  if (padded.find("\nID=sle") == std::string::npos && padded.find("\nID=\"sle") == std::string::npos) {
    return findings.add(State::skip, "", "this is not SUSE Linux Enterprise");
  }
  const auto files = drop_ins(machine.view, {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
                                             "/usr/lib/modprobe.d", "/lib/modprobe.d"});
  if (!files.is_found()) return findings.add_unknown("modprobe.d", files);
  std::string value, origin;
  for (const std::string& path : files.value) {
    const auto text = machine.view.text(path);
    if (text.is_unknown()) return findings.add_unknown(path, text);
    for (const std::string& line : split(text.value, '\n')) {
      std::istringstream words(line);
      std::string name, own;
      if (words >> name >> own && name == "allow_unsupported_modules") value = own, origin = path;
    }
  }
  if (value != "0" && value != "1") {
    return findings.add(State::unknown, "modprobe.d",
                        value.empty() ? "does not set allow_unsupported_modules" : "'" + value + "' in " + origin);
  }
  const auto missing = missing_modules(machine);
  if (!missing.is_found()) return findings.add_unknown("modprobe.d", missing);
  const bool is_refusing = value == "0" && !missing.value.empty();
  findings.add(
      is_refusing ? State::warn : State::ok, origin,
      "allow_unsupported_modules is " + value + (missing.value.empty() ? "" : "; not loaded: " + missing.value));
}

}  // namespace gdrkit::diag::doctor
