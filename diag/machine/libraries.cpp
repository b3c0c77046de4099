// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/libraries.hpp"

#include <algorithm>

namespace gdrkit::diag {
namespace {

constexpr const char* library_names[] = {"libnvidia-ml", "libcuda", "libibverbs",      "libmlx5",  "libgdrapi",
                                         "libnccl",      "libucp",  "libnvshmem_host", "libfabric"};
constexpr const char* usual_directories[] = {"/usr/local/lib",
                                             "/usr/local/lib64",
                                             "/lib/x86_64-linux-gnu",
                                             "/usr/lib/x86_64-linux-gnu",
                                             "/lib/aarch64-linux-gnu",
                                             "/usr/lib/aarch64-linux-gnu",
                                             "/lib64",
                                             "/usr/lib64",
                                             "/lib",
                                             "/usr/lib",
                                             "/usr/local/cuda/lib64",
                                             "/opt/amazon/efa/lib64",
                                             "/opt/amazon/efa/lib"};
constexpr std::size_t directory_limit = 128;

/// Absolute paths on separate lines of ld.so.conf. The rest (include directives, comments) is ignored.
std::vector<std::string> directories_in(const Fact<std::string>& text) {
  std::vector<std::string> directories;
  for (const std::string& line : split(text.value, '\n')) {
    const std::string directory = trimmed(line.substr(0, line.find('#')));
    if (!directory.empty() && directory.front() == '/') directories.push_back(directory);
  }
  return directories;
}

}  // namespace

Libraries::Libraries(const MachineView& view) {
  const std::string configuration = "/etc/ld.so.conf.d";
  for (const std::string& name : view.names(configuration).value) {
    if (!name.ends_with(".conf")) continue;
    for (const std::string& directory : directories_in(view.text(configuration + "/" + name)))
      add_directory(view, directory);
  }
  for (const std::string& directory : directories_in(view.text("/etc/ld.so.conf"))) add_directory(view, directory);
  for (const char* directory : usual_directories) add_directory(view, directory);
}

void Libraries::add_directory(const MachineView& view, const std::string& directory) {
  if (searched_.size() < directory_limit) searched_.push_back(directory);
  const auto place = view.resolved(directory);
  if (place.is_absent() || directories_.size() == directory_limit) return;
  if (std::ranges::find(directories_, place.value) != directories_.end()) return;
  directories_.push_back(place.value);
  const auto names =
      place.is_found() ? view.names(directory) : Fact<std::vector<std::string>>{place.outcome, {}, place.reason};
  if (!names.is_found() && unread_.empty()) unread_ = names.reason;
  for (const std::string& name : names.value) {
    for (const std::string library : library_names) {
      const std::string start = library + ".so";
      if (!name.starts_with(start) || (name.size() > start.size() && name[start.size()] != '.')) continue;
      const auto file = view.resolved(place.value + "/" + name);
      if (file.is_unknown() && unread_.empty()) unread_ = file.reason;
      const auto is_known = [&](const Library& other) { return other.path == file.value; };
      if (!file.is_found() || std::ranges::any_of(all_, is_known)) continue;
      const auto versioned = file.value.rfind(".so.");
      all_.push_back({library, file.value, versioned == std::string::npos ? "" : file.value.substr(versioned + 4)});
    }
  }
}

Fact<std::vector<Library>> Libraries::named(const std::string& name) const {
  Fact<std::vector<Library>> result;
  for (const Library& library : all_) {
    if (library.name == name) result.value.push_back(library);
  }
  result.outcome = !result.value.empty() ? Outcome::found : unread_.empty() ? Outcome::absent : Outcome::unreadable;
  if (result.is_absent()) result.reason = name + ".so not found in the usual directories";
  if (result.is_unknown()) result.reason = unread_;
  return result;
}

}  // namespace gdrkit::diag
