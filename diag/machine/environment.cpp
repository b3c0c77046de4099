// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/environment.hpp"

#include <algorithm>
#include <iterator>

#include "diag/topology/text_parts.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::MachineView;
using topology::Outcome;
using topology::split;
using topology::trimmed;

constexpr const char* environ_path = "/proc/self/environ";
/// Limit for the environment and for each file. Every setting is compared with every other, so more would be too slow.
constexpr std::size_t most_settings = 2048;

/// A path in a variable may be relative to the working directory.
std::string absolute(const std::string& path) {
  return !path.empty() && path.front() == '/' ? path : "/proc/self/cwd/" + path;
}

/// NCCL keeps all blanks: it ignores the variable in " NCCL_DEBUG = INFO". The first line of a name counts.
std::vector<Setting> parse_nccl(const std::string& text, const std::string& path) {
  std::vector<Setting> settings;
  unsigned number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    const auto equals = line.find('=');
    if (line.empty() || line.front() == '#' || equals == std::string::npos) continue;
    settings.push_back({line.substr(0, equals), line.substr(equals + 1), path, number, ""});
  }
  return settings;
}

/// The value without a comment; `mark` after a blank starts a comment.
std::string without_comment(const std::string& value, char mark) {
  for (std::size_t at = 1; at < value.size(); ++at) {
    if (value[at] == mark && (value[at - 1] == ' ' || value[at - 1] == '\t')) return trimmed(value.substr(0, at));
  }
  return trimmed(value);
}

/// Parses lines "name = value". Removes surrounding blanks. The last line of a name counts, so it comes first in the
/// result.
struct KeyValueParser {
  const char* prefix;      ///< put before every name
  const char* separators;  ///< between name and value
  const char* comments;    ///< first characters of comment lines
  char inline_comment;     ///< '\0': not supported
  bool has_sections;

  std::vector<Setting> operator()(const std::string& text, const std::string& path) const {
    std::vector<Setting> settings;
    std::string section;
    unsigned number = 0;
    for (const std::string& raw : split(text, '\n')) {
      ++number;
      const std::string line = trimmed(raw);
      if (line.empty() || std::string(comments).find(line.front()) != std::string::npos) continue;
      if (has_sections && line.front() == '[') {
        section = line.substr(1, line.find(']') - 1);
        continue;
      }
      const auto at = line.find_first_of(separators);
      if (at == std::string::npos || at == 0) continue;
      settings.push_back({prefix + trimmed(line.substr(0, at)), without_comment(line.substr(at + 1), inline_comment),
                          path, number, section});
    }
    std::ranges::reverse(settings);
    return settings;
  }
};

}  // namespace

const char* name_of(CommLibrary library) {
  constexpr const char* names[] = {"nccl", "ucx", "nvshmem", "openmpi", "mvapich2"};
  return names[static_cast<std::size_t>(library)];
}

const char* prefix_of(CommLibrary library) {
  constexpr const char* prefixes[] = {"NCCL_", "UCX_", "NVSHMEM_", "OMPI_MCA_", "MV2_"};
  return prefixes[static_cast<std::size_t>(library)];
}

std::string Setting::place() const {
  return is_variable() ? "the environment" : origin + ", line " + std::to_string(line);
}

Environment::Environment(const MachineView& view) {
  read_variables(view);
  read_nccl(view);
  read_ucx(view);
  read_nvshmem(view);
  read_openmpi(view);
}

void Environment::read_variables(const MachineView& view) {
  // A process without this file has no /proc, so its variables are unknown, not empty.
  const auto content = required(view.bytes(environ_path, MachineView::text_limit));
  const std::string path = environ_path;
  variables_ = topology::pass<bool>(content);
  if (content.value.size() >= MachineView::text_limit) {
    variables_ = {Outcome::malformed, false, path + ": is larger than the limit for reading it"};
  }
  if (!variables_.is_found()) return;
  variables_.value = true;
  for (const std::string& entry : split(std::string(content.value.begin(), content.value.end()), '\0')) {
    // The same rules as getenv(): an entry without '=' is ignored, and the first entry of a name counts.
    const auto equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    if (settings_.size() == most_settings) {
      const std::string most = std::to_string(most_settings);
      variables_ = {Outcome::malformed, true, path + ": contains more than " + most + " variables"};
      return;
    }
    settings_.push_back({entry.substr(0, equals), entry.substr(equals + 1), "", 0, ""});
  }
}

std::string Environment::variable(const std::string& name) const {
  for (const Setting& setting : settings_) {
    if (setting.is_variable() && setting.name == name) return setting.value;
  }
  return {};
}

/// Appends the settings of a file to `to`, at most the limit for a file. `parse`: text and path to settings.
template <class Parse>
void Environment::add_file(const MachineView& view, const std::string& path, Parse parse, std::vector<Setting>* to) {
  const auto text = view.text(path);
  if (text.is_unknown()) problems_.push_back(text.reason);
  auto more = parse(text.value, path);
  if (more.size() > most_settings) {
    problems_.push_back(path + ": contains more than " + std::to_string(most_settings) + " settings");
    more.resize(most_settings);
  }
  to->insert(to->end(), more.begin(), more.end());
}

void Environment::read_nccl(const MachineView& view) {
  if (const std::string own = variable("NCCL_CONF_FILE"); !own.empty()) {
    add_file(view, absolute(own), parse_nccl, &settings_);
  } else if (const std::string home = variable("HOME"); !home.empty()) {
    add_file(view, home + "/.nccl.conf", parse_nccl, &settings_);
  }
  add_file(view, "/etc/nccl.conf", parse_nccl, &settings_);
}

void Environment::read_ucx(const MachineView& view) {
  // In decreasing precedence. UCX also reads ../etc/ucx relative to the library, which is unknown here.
  std::vector<std::string> directories = {"/proc/self/cwd"};
  if (const std::string own = variable("UCX_CONFIG_DIR"); !own.empty()) directories.push_back(absolute(own));
  if (const std::string home = variable("HOME"); !home.empty()) directories.push_back(home);
  directories.emplace_back("/etc/ucx");
  for (std::size_t index = 0; index < directories.size(); ++index) {
    const std::string path = directories[index] + "/ucx.conf";
    // The working directory may be one of the others.
    const auto real = view.resolved(path);
    const bool is_again = std::any_of(directories.begin() + static_cast<std::ptrdiff_t>(index) + 1, directories.end(),
                                      [&](const std::string& other) {
                                        const auto there = view.resolved(other + "/ucx.conf");
                                        return real.is_found() && there.is_found() && there.value == real.value;
                                      });
    if (is_again) continue;
    add_file(view, path, KeyValueParser{"", "=:", "#;", ';', true}, &settings_);
  }
}

void Environment::read_nvshmem(const MachineView& view) {
  // NVSHMEM is the only library whose files override variables. Older releases (3.4.5 among them) read no files.
  constexpr KeyValueParser parser = {"", "=", "#", '#', false};
  std::vector<Setting> found;
  if (const std::string own = variable("NVSHMEM_CONF_FILE"); !own.empty()) {
    add_file(view, absolute(own), parser, &found);
  }
  if (const std::string home = variable("HOME"); !home.empty()) add_file(view, home + "/.nvshmem.conf", parser, &found);
  add_file(view, "/etc/nvshmem.conf", parser, &found);
  settings_.insert(settings_.begin(), found.begin(), found.end());
}

void Environment::read_openmpi(const MachineView& view) {
  constexpr KeyValueParser parser = {"OMPI_MCA_", "=", "#", '\0', false};
  if (const std::string home = variable("HOME"); !home.empty()) {
    add_file(view, home + "/.openmpi/mca-params.conf", parser, &settings_);
  }
  add_file(view, "/etc/openmpi/openmpi-mca-params.conf", parser, &settings_);
  add_file(view, "/etc/openmpi-mca-params.conf", parser, &settings_);
}

const Setting* Environment::find(const std::string& name) const {
  const auto found = std::ranges::find_if(settings_, [&](const Setting& setting) { return setting.name == name; });
  return found == settings_.end() ? nullptr : &*found;
}

std::vector<Setting> Environment::of(const std::string& name) const {
  std::vector<Setting> found;
  std::ranges::copy_if(settings_, std::back_inserter(found),
                       [&](const Setting& setting) { return setting.name == name; });
  return found;
}

std::vector<Setting> Environment::of(CommLibrary library) const {
  std::vector<Setting> found;
  for (const Setting& setting : settings_) {
    if (!setting.name.starts_with(prefix_of(library))) continue;
    const auto is_same = [&](const Setting& other) { return other.name == setting.name; };
    if (std::ranges::none_of(found, is_same)) found.push_back(setting);
  }
  std::ranges::sort(found, [](const Setting& one, const Setting& two) { return one.name < two.name; });
  return found;
}

topology::Fact<Variables> read_variables(const topology::MachineView& view) {
  const auto content = required(view.bytes("/proc/self/environ", topology::MachineView::text_limit));
  topology::Fact<Variables> variables{content.outcome, {}, content.reason};
  for (const std::string& entry : topology::split(std::string(content.value.begin(), content.value.end()), '\0')) {
    const auto equals = entry.find('=');
    // If a name occurs twice, getenv() returns the first.
    if (equals != std::string::npos) variables.value.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

std::string local_rank_variable(const Variables& variables) {
  for (const char* name : local_rank_variables) {
    if (variables.count(name) != 0) return name;
  }
  return "";
}

}  // namespace gdrkit::diag
