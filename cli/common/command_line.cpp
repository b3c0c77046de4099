// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <utility>

#include "cli/common/whole_file.hpp"

namespace gdrkit::tools {
namespace {

/// Before anything is measured: nobody should wait a minute for a refusal.
void check_documents(const CommandLine& line) {
  const Option* on_stdout = nullptr;
  std::vector<std::pair<const Option*, std::string>> files;
  for (const Option& option : line.options) {
    const auto* const target = std::get_if<DocumentOption*>(&option.target);
    if (target == nullptr || !(*target)->is_given) continue;
    const std::string name = std::string("--") + option.long_name;
    if ((*target)->is_on_stdout()) {
      if (on_stdout != nullptr) {
        throw Failure(ExitCode::usage, format("gdrkit %s: --%s and %s both go to standard output; give one of them a "
                                              "file: %s=FILE",
                                              line.name, on_stdout->long_name, name.c_str(), name.c_str()));
      }
      on_stdout = &option;
      continue;
    }
    const std::string& path = (*target)->path;
    for (const auto& [other, other_path] : files) {
      if (!are_one_file(path, other_path)) continue;
      throw Failure(ExitCode::usage, format("gdrkit %s: --%s and %s name the same file, %s; the second would replace "
                                            "the first",
                                            line.name, other->long_name, name.c_str(), path.c_str()));
    }
    files.emplace_back(&option, path);
    check_can_write(path);
  }
}

}  // namespace

std::optional<ExitCode> parse(const CommandLine& line, Front front, int argc, char** argv) {
  if (front == Front::table) throw CommandLine(line);
  const auto ended = front == Front::gdrcopy ? parse_gdrcopy(line, argc, argv) : parse_gdrkit(line, argc, argv);
  if (!ended) check_documents(line);
  return ended;
}

}  // namespace gdrkit::tools
