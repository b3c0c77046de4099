// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Group environment: names, origins and leftovers of settings for NCCL, UCX, NVSHMEM and MPI.
#include "diag/doctor/checks/environment_checks.hpp"

#include <algorithm>
#include <set>

#include "cli/interface/shell_word.hpp"
#include "diag/machine/known_variables.hpp"

namespace gdrkit::diag::doctor {

std::optional<Environment> environment_or_unknown(const Machine& machine, Findings& findings) {
  Environment environment(machine.view);
  if (environment.variables().is_found()) return environment;
  findings.add_unknown("environment", environment.variables());
  return std::nullopt;
}

std::string described(const Setting& setting) { return "'" + setting.value + "' in " + setting.place(); }

std::vector<std::string> listed(const std::string& text) {
  auto parts = split(text, ',');
  std::erase(parts, "");
  return parts;
}

std::string value_of(const Environment& environment, const std::string& name) {
  const Setting* setting = environment.find(name);
  return setting == nullptr ? "" : setting->value;
}

std::string removal(const Setting& setting) {
  return setting.is_variable() ? "unset " + cli::shell_word(setting.name)
                               : "remove line " + std::to_string(setting.line) + " of " + setting.origin;
}

NcclFilter::NcclFilter(const std::string& text) {
  std::string rest = text;
  is_exclusion = !rest.empty() && rest.front() == '^';
  if (is_exclusion) rest.erase(0, 1);
  is_exact = !rest.empty() && rest.front() == '=';
  if (is_exact) rest.erase(0, 1);
  for (const std::string& part : listed(rest)) {
    const auto colon = part.find(':');
    const std::string port = colon == std::string::npos ? "" : part.substr(colon + 1);
    tokens.push_back({part.substr(0, colon), port.substr(0, port.find(':'))});
  }
}

bool NcclFilter::names(const Token& token, const std::string& device) const {
  return is_exact ? device == token.name : device.starts_with(token.name);
}

const Advice advice_env_unknown = {
    "variables, and lines of configuration files, whose names begin like those of NCCL, NVSHMEM and UCX",
    "libraries ignore unknown names; NCCL and NVSHMEM do so silently",
    {"use the proposed name, or remove the setting", false, false, false, "env | grep -E 'NCCL|UCX|NVSHMEM'"},
    "a release newer than this program may support more names: this check warns only of names that are similar to a "
    "known one"};

void check_env_unknown(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  std::set<std::string> seen;
  for (const Setting& setting : environment->all()) {
    if (!seen.insert(setting.name).second) continue;
    const NameVerdict verdict = judge_name(setting.name);
    if (verdict.knowledge == Knowledge::near_to) {
      findings.add(
          State::warn, "'" + setting.name + "'",
          "in " + setting.place() + ": no library reads this name; " + verdict.meant + " may be meant",
          (setting.is_variable() ? "export " : "write ") + verdict.meant + "=" + cli::shell_word(setting.value));
    } else if (verdict.knowledge == Knowledge::unknown) {
      findings.add(State::info, "'" + setting.name + "'",
                   "in " + setting.place() + ": gdrkit does not recognize this name");
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "every setting has a known name");
}

const Advice advice_env_sources = {
    "the variables; NCCL_CONF_FILE or ~/.nccl.conf, /etc/nccl.conf; ucx.conf; nvshmem.conf; openmpi-mca-params.conf",
    "if a name has different values in two places, only one value takes effect, possibly not the one that was edited "
    "last",
    {"keep the setting in one place and remove it from the other", false, false, true,
     "gdrkit doctor --only env.sources"},
    "variables override files, except for NVSHMEM, whose file overrides variables; a launcher may set other values for "
    "its ranks"};

void check_env_sources(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  for (const std::string& problem : environment->problems()) findings.add(State::unknown, "", problem);
  for (const CommLibrary library : all_libraries) {
    for (const Setting& effective : environment->of(library)) {
      for (const Setting& other : environment->of(effective.name)) {
        if (other.value == effective.value || !other.section.empty() || !effective.section.empty()) continue;
        findings.add(State::warn, effective.name,
                     "'" + effective.value + "' in " + effective.place() + " counts; '" + other.value + "' in " +
                         other.place() + " does not",
                     removal(other));
        break;
      }
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "all places agree");
}

const Advice advice_env_deprecated = {
    "names of variables and of lines of configuration files",
    "a removed name has no effect, and a deprecated one will have no effect in a later release",
    {"set the new name and remove the old one", false, false, true, "gdrkit doctor --only env.deprecated"},
    "an old release of the library may still need the old name"};

void check_env_deprecated(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  for (const RetiredVariable& retired : retired_variables()) {
    const std::string pattern = retired.name;
    const bool is_start = pattern.back() == '*';
    const std::string start = pattern.substr(0, pattern.size() - (is_start ? 1 : 0));
    std::set<std::string> seen;
    for (const Setting& setting : environment->all()) {
      if (is_start ? !setting.name.starts_with(start) : setting.name != start) continue;
      if (!seen.insert(setting.name).second) continue;
      if (retired.value[0] != '\0' && setting.value != retired.value) continue;
      findings.add(State::warn, setting.name,
                   "in " + setting.place() + ": " + retired.fate + "; use instead: " + retired.successor,
                   removal(setting));
    }
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no retired name is set");
}

const Advice advice_env_debug_left = {
    "NCCL_DEBUG, NCCL_ALGO, NCCL_PROTO, NVSHMEM_DEBUG, UCX_LOG_LEVEL, CUDA_LAUNCH_BLOCKING",
    "traces, serialized launches and forced algorithms cost speed; they often stay set after debugging",
    {"unset the variable in the job script, or remove its line from the library's file", false, false, false,
     "env | grep -E 'DEBUG|BLOCKING|ALGO|PROTO|LOG_LEVEL'"},
    "correct while you debug"};

void check_env_debug_left(const Machine& machine, Findings& findings) {
  const auto environment = environment_or_unknown(machine, findings);
  if (!environment) return;
  const auto is_one_of = [&](const char* name, std::initializer_list<const char*> values) {
    const std::string value = value_of(*environment, name);
    for (const char* bad : values) {
      if (value == bad) return true;
    }
    return false;
  };
  const auto complain = [&](State state, const char* name, const char* what) {
    const Setting* setting = environment->find(name);
    findings.add(state, name, "'" + setting->value + "' in " + setting->place() + ": " + what, removal(*setting));
  };
  for (const char* name : {"NCCL_DEBUG", "NVSHMEM_DEBUG"}) {
    if (is_one_of(name, {"TRACE", "trace"})) complain(State::warn, name, "logs every call");
    if (is_one_of(name, {"INFO", "info"})) complain(State::info, name, "logs many lines at the start of every rank");
  }
  if (is_one_of("UCX_LOG_LEVEL",
                {"debug", "trace", "req", "data", "async", "func", "poll", "DEBUG", "TRACE", "DATA"})) {
    complain(State::warn, "UCX_LOG_LEVEL", "logs every operation");
  }
  if (!value_of(*environment, "CUDA_LAUNCH_BLOCKING").empty() && !is_one_of("CUDA_LAUNCH_BLOCKING", {"0"})) {
    complain(State::warn, "CUDA_LAUNCH_BLOCKING", "makes every launch wait for its GPU kernel");
  }
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO"}) {
    if (!value_of(*environment, name).empty())
      complain(State::warn, name, "overrides NCCL's choice by size and topology");
  }
  if (findings.all().empty()) findings.add(State::ok, "", "no costly debug setting found");
}

}  // namespace gdrkit::diag::doctor
