// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group driver: whether NVIDIA's library has the version of the loaded kernel module.
#include <utility>

#include "diag/doctor/check.hpp"

namespace gdrkit::diag::doctor {
namespace {

/// Directories where distributions, NVIDIA's installer and container runtimes install NVML: absolute paths without
/// links.
constexpr const char* library_directories[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                               "/usr/local/nvidia/lib64",   "/usr/local/nvidia/lib",      "/usr/lib"};
constexpr const char* name = "libnvidia-ml.so.";

/// The version of the file that the directory's libnvidia-ml.so.1 links to.
Fact<std::string> version_in(const Machine& machine, const std::string& directory) {
  Fact<std::string> version = machine.view.resolved(directory + "/" + name + "1");
  if (!version.is_found()) return version;
  const std::string file = version.value.substr(version.value.rfind('/') + 1);
  const auto at = file.starts_with(name) ? file.substr(std::string(name).size()) : std::string();
  version.value = at;
  if (at.find('.') == std::string::npos) {
    version.outcome = Outcome::malformed;
    version.reason = directory + "/" + name + "1: leads to '" + file + "', whose name has no version";
  }
  return version;
}

}  // namespace

const Advice advice_drv_match = {
    "the version of the loaded module in /sys/module/nvidia/version, and of libnvidia-ml.so.1 in the usual "
    "directories; at "
    "level probe: whether NVML starts",
    "the module refuses a library of another version: \"Driver/library version mismatch\"; no GPU can be used",
    {"reboot, so that the installed module is loaded; in a container: restart it, so that it gets the host's libraries",
     true, true, true, "nvidia-smi"},
    "libcuda may be newer on purpose (forward compatibility), so this check compares libnvidia-ml only"};

void check_drv_match(const Machine& machine, Findings& findings) {
  if (gpus_or_skip(machine, findings).empty()) return;
  const auto module = machine.view.line("/sys/module/nvidia/version");
  if (module.is_absent()) return findings.add(State::skip, "", "NVIDIA's kernel module is not loaded: see drv.loaded");
  if (!module.is_found()) return findings.add_unknown("", module);
  const auto& nvml = machine.probe.nvml;
  if (nvml.is_found()) {
    findings.add(State::ok, "NVML", "works with the loaded module");
  } else if (nvml.reason.find("LIB_RM_VERSION_MISMATCH") != std::string::npos) {
    findings.add(State::fail, "NVML", "has another version than the loaded kernel module, " + module.value);
  }
  bool is_one_right = nvml.is_found();
  std::vector<std::pair<std::string, Fact<std::string>>> found;
  for (const char* directory : library_directories) {
    const auto version = version_in(machine, directory);
    if (version.is_absent()) continue;
    found.emplace_back(std::string(directory) + "/" + name + "1", version);
    is_one_right = is_one_right || (version.is_found() && version.value == module.value);
  }
  for (const auto& [path, version] : found) {
    if (!version.is_found()) {
      findings.add_unknown(path, version);
    } else if (version.value == module.value) {
      findings.add(State::ok, path, version.value + ", same as the module");
    } else {
      findings.add(
          is_one_right ? State::warn : State::fail, path,
          version.value + ", but the loaded module is " + module.value +
              (is_one_right ? " (another library has the module's version: the search path decides which one is loaded)"
                            : ""));
    }
  }
  if (found.empty() && !nvml.is_found() && findings.all().empty())
    findings.add(State::unknown, "", "libnvidia-ml.so.1 not found in the usual directories");
}

}  // namespace gdrkit::diag::doctor
