// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/command_line.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/interface/whole_file.hpp"

namespace gdrkit::cli {
namespace {

/// Runs before the measurement, so that an error is reported at once.
void check_documents(const CommandLine& line) {
  const Option* on_stdout = nullptr;
  std::vector<std::pair<const Option*, std::string>> files;
  for (const Option& option : line.options) {
    const auto* const target = std::get_if<DocumentOption*>(&option.target);
    if (target == nullptr || !(*target)->is_given) continue;
    const std::string name = std::string("--") + option.long_name;
    if ((*target)->is_on_stdout()) {
      if (on_stdout != nullptr) {
        reject(format("gdrkit %s: cannot write both --%s and %s to standard output; use %s=FILE", line.name,
                      on_stdout->long_name, name.c_str(), name.c_str()));
      }
      on_stdout = &option;
      continue;
    }
    const std::string& path = (*target)->path;
    for (const auto& [other, other_path] : files) {
      if (!are_one_file(path, other_path)) continue;
      reject(format("gdrkit %s: --%s and %s name the same file, %s; use different files", line.name, other->long_name,
                    name.c_str(), path.c_str()));
    }
    files.emplace_back(&option, path);
    check_can_write(path);
  }
}

void request_emulation(const CommandLine& line) {
  for (const Option& option : line.options) {
    const auto* const value = std::get_if<std::string*>(&option.target);
    if (value == nullptr || std::string(option.long_name) != "backend") continue;
    if ((*value)->empty() || **value == "emulated") continue;
    reject(format("gdrkit %s: cannot combine --emulated with --backend %s; omit one", line.name, (*value)->c_str()));
  }
  if (::setenv("GDRKIT_BACKEND", "emulated", 1) != 0)
    fail(format("gdrkit %s: cannot set GDRKIT_BACKEND=emulated for --emulated: %s", line.name, std::strerror(errno)));
}

}  // namespace

std::optional<ExitCode> parse(const CommandLine& line, Front front, int argc, char** argv) {
  bool is_emulated = false;
  CommandLine whole = line;
  if (line.uses_device) {
    whole.options.push_back(
        {'\0', "emulated", "", &is_emulated, "use the emulated device (sets GDRKIT_BACKEND=emulated)", false});
  }
  if (front == Front::table) throw CommandLine(whole);
  const auto ended = front == Front::gdrcopy ? parse_gdrcopy(whole, argc, argv) : parse_gdrkit(whole, argc, argv);
  if (ended) return ended;
  if (is_emulated) request_emulation(whole);
  check_documents(whole);
  return std::nullopt;
}

}  // namespace gdrkit::cli
