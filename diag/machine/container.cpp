// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/container.hpp"

#include "diag/machine/variables.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::MachineView;
using topology::Outcome;

/// Files that runtimes create in the root of a container.
constexpr const char* left_files[] = {"/.dockerenv", "/run/.containerenv", "/.singularity.d"};
/// Set by systemd-nspawn, podman and others; by Kubernetes for each pod; by Apptainer and its predecessor; by
/// Charliecloud.
constexpr const char* left_variables[] = {"container", "KUBERNETES_SERVICE_HOST", "APPTAINER_CONTAINER",
                                          "SINGULARITY_CONTAINER", "CH_RUNNING"};
/// Parts of the names of control groups created by runtimes. A process sees them if it has no control group namespace.
constexpr const char* group_names[] = {"/docker/", "/docker-",       "kubepods", "libpod-",
                                       "/crio-",   "cri-containerd", "/lxc"};

Fact<std::string> evidence(const std::string& text) { return {Outcome::found, text, ""}; }

}  // namespace

Fact<std::string> find_container(const MachineView& view) {
  Fact<std::string> fact;
  const auto note_problem = [&](const std::string& reason) {
    fact.outcome = Outcome::unreadable;
    fact.reason = reason;
  };
  for (const char* path : left_files) {
    const auto node = view.node(path);
    if (node.is_found()) return evidence(std::string(path) + " exists");
    if (node.is_unknown()) note_problem(node.reason);
  }
  const auto manager = view.line("/run/systemd/container");
  if (manager.is_found()) return evidence("/run/systemd/container contains " + manager.value);
  const auto variables = read_variables(view);
  if (!variables.is_found()) note_problem(variables.reason);
  for (const char* name : left_variables) {
    if (variables.value.count(name) != 0) return evidence(std::string("the variable ") + name + " is set");
  }
  const auto groups = view.text("/proc/self/cgroup");
  if (groups.is_unknown()) note_problem(groups.reason);
  for (const char* name : group_names) {
    if (groups.value.find(name) != std::string::npos) {
      return evidence(std::string("/proc/self/cgroup contains ") + name);
    }
  }
  if (fact.outcome != Outcome::unreadable) fact.reason = "no sign of a container found";
  return fact;
}

}  // namespace gdrkit::diag
