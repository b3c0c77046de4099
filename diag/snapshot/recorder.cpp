// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/recording.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <set>

#include "cli/interface/exit_code.hpp"
#include "diag/machine/libraries.hpp"
#include "diag/snapshot/recorded_paths.hpp"
#include "diag/topology/archive_tree.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag::snapshot {
namespace {

using topology::NodeKind;
using topology::Step;

// Leaves room for headers below the size limit for reading archives.
constexpr std::size_t most_bytes = topology::ArchiveTree::size_limit / 2;
constexpr std::size_t most_items = topology::ArchiveTree::node_limit / 2;
constexpr std::size_t most_groups = 256;
constexpr const char* environ_path = "/proc/self/environ";

/// GPUs, network and other controllers, bridges, accelerators and all NVIDIA devices, which include all RDMA adapters.
/// No check needs the rest of a large machine: hundreds of parts of its processors.
std::set<std::string> pci_directories(const MachineView& view) {
  const std::string directory = "/sys/bus/pci/devices/";
  const auto is_relevant = [&](const std::string& address) {
    const auto kind = view.number(directory + address + "/class");
    const std::int64_t base = kind.value >> 16;
    const std::int64_t vendor = view.number(directory + address + "/vendor").value;
    // Mellanox: the Data Direct function of an adapter is not a network device.
    return !kind.is_found() || base == 0x02 || base == 0x03 || base == 0x06 || base == 0x0b || base == 0x12 ||
           vendor == 0x10de || vendor == 0x15b3;
  };
  std::set<std::string> all;
  for (const std::string& address : view.names(directory).value) {
    if (platform::parse_pci_address(address).has_value() && is_relevant(address)) all.insert(directory + address);
  }
  for (const Adapter& adapter : Machine(view).adapters) {
    if (!adapter.pci.address.empty()) all.insert(directory + adapter.pci.address);
    for (const std::string& bridge : adapter.pci.bridges) all.insert(directory + bridge);
  }
  return all;
}

/// "7:rdma:/a/b" in /proc/self/cgroup means /a/b, /a and the root, below each mount point of control groups.
std::set<std::string> group_directories(const MachineView& view) {
  std::set<std::string> all;
  for (const std::string& line : split(view.text("/proc/self/cgroup").value, '\n')) {
    if (all.size() >= most_groups) break;
    const auto slash = line.find(":/", line.find(':') + 1);
    if (slash == std::string::npos || line.size() > PATH_MAX) continue;
    for (std::string group = line.substr(slash + 1);; group.resize(group.rfind('/'))) {
      for (const char* mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/rdma", "/sys/fs/cgroup/unified"}) {
        all.insert(mount + (group == "/" ? "" : group));
      }
      if (group.empty() || group == "/") break;
    }
  }
  return all;
}

class Recorder {
 public:
  explicit Recorder(const MachineView& view) : view_(view) {
    read_variables();
    sets_["PCI"] = pci_directories(view);
    sets_["CGROUP"] = group_directories(view);
    const auto libraries = Libraries(view).searched();
    sets_["LIBRARIES"] = {libraries.begin(), libraries.end()};
  }

  Recording run() {
    for (const RecordedPath& path : recorded_paths()) {
      for (const std::string& pattern : without_braces(path.pattern)) start(pattern, path.kind);
    }
    keep_variables();
    return std::move(recording_);
  }

 private:
  void read_variables();
  void keep_variables();
  void start(const std::string& pattern, Kind kind);
  void expand(const std::string& base, std::string_view rest, Kind kind, bool is_listed);
  void take(const std::string& path, Kind kind, bool is_listed);
  void take_content(const std::string& path, Item& item);
  Item* keep(const Step& step);
  [[nodiscard]] std::string own_path(const std::string& path) const;

  const MachineView& view_;
  std::map<std::string, std::set<std::string>> sets_;  ///< values of a pattern's $NAME that are not variables
  Recording recording_;
  std::vector<std::string> variables_;  ///< NAME=VALUE
  std::string
      own_process_;  ///< /proc/1234: recorded as directory /proc/self, so that recordings do not differ by the number
  bool is_home_used_ = false;
  std::size_t bytes_ = 0;
};

std::string value_of(const std::vector<std::string>& variables, const std::string& name) {
  for (const std::string& variable : variables) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return {};
}

void Recorder::read_variables() {
  const auto bytes = view_.bytes(environ_path, MachineView::text_limit);
  variables_ = split(std::string(bytes.value.begin(), bytes.value.end()), '\0');
}

void Recorder::keep_variables() {
  const auto item = recording_.items.find(environ_path);
  if (item == recording_.items.end() || !item->second.has_content) return;
  std::string kept;
  for (const std::string& variable : variables_) {
    const std::string name = variable.substr(0, variable.find('='));
    if (is_recorded_variable(name) || (is_home_used_ && name == "HOME")) kept += variable + std::string(1, '\0');
  }
  item->second.content = kept;
}

void Recorder::start(const std::string& pattern, Kind kind) {
  if (pattern.front() != '$') {
    expand("", pattern, kind, false);
    return;
  }
  const auto slash = std::min(pattern.find('/'), pattern.size());
  const std::string name = pattern.substr(1, slash - 1);
  const std::string rest = pattern.substr(slash);
  if (const auto set = sets_.find(name); set != sets_.end()) {
    for (const std::string& directory : set->second) expand(directory, rest, kind, false);
    return;
  }
  std::string value = value_of(variables_, name);
  if (value.empty()) return;
  if (value.front() != '/')
    value = "/proc/self/cwd/" + value;  // relative to the working directory, as the libraries do
  const std::size_t before = recording_.items.size();
  expand(value, rest, kind, false);
  if (name == "HOME" && recording_.items.size() != before) is_home_used_ = true;
}

/// Expands one component after another. Every name matched by a * is kept, because a check may list the directory.
void Recorder::expand(const std::string& base, std::string_view rest, Kind kind, bool is_listed) {
  while (!rest.empty() && rest.front() == '/') rest.remove_prefix(1);
  if (rest.empty()) {
    take(base, kind, is_listed);
    return;
  }
  const auto end = std::min(rest.find('/'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest = rest.substr(end);
  if (part.find('*') == std::string_view::npos) {
    expand(base + "/" + std::string(part), rest, kind, false);
    return;
  }
  take(base, Kind::name, false);
  const auto names = view_.names(base);
  if (names.outcome == Outcome::unreadable) {
    const auto real = view_.resolved(base);
    if (const auto item = recording_.items.find(own_path(real.value)); item != recording_.items.end()) {
      item->second.is_refused = item->second.is_missed = true;
    }
  }
  for (const std::string& name : names.value) {
    if (!is_described(name, part)) continue;
    const std::string path = base + "/" + name;
    if (!rest.empty()) take(path, Kind::name, true);
    expand(path, rest, kind, true);
  }
}

std::string Recorder::own_path(const std::string& path) const {
  if (own_process_.empty() || !path.starts_with(own_process_ + "/")) return path == own_process_ ? "/proc/self" : path;
  return "/proc/self" + path.substr(own_process_.size());
}

/// Returns nullptr for the link /proc/self, which is not recorded.
Item* Recorder::keep(const Step& step) {
  if (view_.is_live() && step.path == "/proc/self" && step.entry.is_link) {
    own_process_ = "/proc/" + step.entry.target;
    return nullptr;
  }
  const auto [place, is_new] = recording_.items.try_emplace(own_path(step.path));
  Item& item = place->second;
  if (!is_new) return &item;
  if (recording_.items.size() > most_items) {
    cli::fail(
        cli::format("cannot record more than %zu files and directories; check that --root is a recording of a machine",
                    most_items));
  }
  item.node = step.entry.node;
  item.is_seen = step.is_seen;
  item.is_link = step.entry.is_link;
  item.content = step.entry.target;
  item.is_refused = step.is_refused;
  return &item;
}

void Recorder::take(const std::string& path, Kind kind, bool is_listed) {
  if (kind == Kind::setpci && !view_.holds(path, "setpci").value) return;
  std::vector<Step> trail;
  const auto node = view_.node(path, &trail);
  if (node.is_absent() && !is_listed) return;
  // /dev/stdout and similar: the descriptors of this process do not belong to the machine.
  const auto is_own_descriptor = [](const Step& step) { return step.entry.target.starts_with("/proc/self/fd"); };
  if (std::ranges::any_of(trail, is_own_descriptor)) return;
  Item* last = nullptr;
  for (const Step& step : trail) last = keep(step);
  if (last == nullptr) return;
  if (node.outcome == Outcome::unreadable && !last->is_link) last->is_refused = last->is_missed = true;
  if (!node.is_found() || node.value.kind != NodeKind::file || last->has_content) return;
  if (kind == Kind::name) {
    last->is_refused = true;  // it exists, but the recording does not contain its content
    return;
  }
  take_content(path, *last);
}

/// sysfs refuses to read a value that does not exist at the moment, such as the speed of an interface that is down.
bool has_no_value(const std::string& reason) {
  return reason.ends_with(std::strerror(EINVAL)) || reason.ends_with(std::strerror(EOPNOTSUPP)) ||
         reason.ends_with(std::strerror(ENODATA));
}

void Recorder::take_content(const std::string& path, Item& item) {
  const auto bytes = view_.bytes(path, MachineView::text_limit);
  item.is_refused = !bytes.is_found() || bytes.value.size() == MachineView::text_limit;
  item.is_missed = item.is_refused && !has_no_value(bytes.reason);
  if (item.is_refused) return;
  item.has_content = true;
  item.content.assign(bytes.value.begin(), bytes.value.end());
  bytes_ += item.content.size();
  if (bytes_ > most_bytes) {
    cli::fail(cli::format("cannot record %s: the recording would exceed %zu MiB", path.c_str(), most_bytes >> 20));
  }
}

}  // namespace

Recording record(const MachineView& view) { return Recorder(view).run(); }

void add_probe(const Probe& probe, Recording* recording) {
  const auto add = [&](const std::string& path, const std::string& content) {
    Item& item = recording->items[path];
    item.node.kind = NodeKind::file;
    item.node.mode = 0644;
    item.has_content = true;
    item.content = content;
  };
  add(nvml_recording, to_json_text(probe.nvml));
  add(verbs_recording, to_json_text(probe.verbs));
  // Without a Linux log the recording contains no file, and is then reported as unreadable.
  if (probe.kernel_log.is_found()) add(kernel_log_recording, to_text(probe.kernel_log.value));
}

}  // namespace gdrkit::diag::snapshot
