// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/subcommand.hpp"

#include <stdexcept>

#define GDRKIT_SUBCOMMAND(name, space, summary, has_gdrcopy_name)    \
  namespace gdrkit::space {                                          \
  cli::ExitCode run_##name(cli::Front front, int argc, char** argv); \
  }
#include "cli/subcommands.def"
#undef GDRKIT_SUBCOMMAND

namespace gdrkit::cli {

const std::vector<Subcommand>& all_subcommands() {
  static const std::vector<Subcommand> all = {
#define GDRKIT_SUBCOMMAND(name, space, summary, has_gdrcopy_name) \
  {#name, summary, has_gdrcopy_name, &space::run_##name},
#include "cli/subcommands.def"
#undef GDRKIT_SUBCOMMAND
  };
  return all;
}

const Subcommand* find_subcommand(const std::string& name) {
  for (const Subcommand& subcommand : all_subcommands()) {
    if (name == subcommand.name) return &subcommand;
  }
  return nullptr;
}

CommandLine options_of(const Subcommand& subcommand) {
  std::string name = subcommand.name;
  char* words[] = {name.data(), nullptr};
  try {
    (void)subcommand.run(Front::table, 1, words);
  } catch (const CommandLine& line) {
    return line;
  }
  throw std::logic_error(name + " did not parse its options before anything else");
}

}  // namespace gdrkit::cli
