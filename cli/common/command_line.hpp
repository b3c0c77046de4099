// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommandLine: a tool's options as one table, read by two front ends: `gdrkit <name>` and the predecessor's names.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/common/exit_code.hpp"

namespace gdrkit::tools {

/// gdrcopy: called by a name of the predecessor's tools, behaves as those do. gdrkit: our own.
enum class Front { gdrkit, gdrcopy };

/// One of some words. `gdrcopy_complaint` is what the predecessor says to others, with {} for the word.
struct Choice {
  std::vector<std::string> words;
  std::string* target;
  const char* gdrcopy_complaint;
};

/// Where an option's value goes; a flag sets its bool, a list collects.
using Target = std::variant<bool*, int*, std::size_t*, std::string*, std::vector<std::string>*, Choice>;

struct Option {
  char short_name;         ///< '\0': none
  const char* long_name;   ///< only `gdrkit <name>` has it, but for --json, which all have
  const char* value_name;  ///< "" for a flag
  Target target;
  const char* help;
  bool is_gdrcopy = true;      ///< the predecessor has its short name
  bool shows_default = true;   ///< false where the value stands for something that `help` says
  bool takes_several = false;  ///< of a list: one mention may bring several values
};

/// Words that belong to no option. Only `gdrkit <name>` has them.
struct Operands {
  std::vector<std::string>* target = nullptr;  ///< nullptr: there may be none
  const char* value_name = "";                 ///< a word; the help says that there may be several
  const char* help = "";
};

struct CommandLine {
  const char* name;  ///< "copylat"
  const char* summary;
  const char* example;
  /// The predecessor's words for an option it does not know, and for how one uses it.
  const char* gdrcopy_invalid_option = "ERROR: invalid option";
  std::vector<Option> options;
  Operands operands{};
  const char* exit_codes = "0 ok, 1 failed, 2 wrong usage, 77 cannot run here";
};

/// Fills the targets. A value: end now with this code (help was printed, or the complaint was).
/// gdrcopy: short options by getopt, numbers by strtol with base 0 and no check, wrong ones end with 1.
[[nodiscard]] std::optional<ExitCode> parse_gdrcopy(const CommandLine& line, int argc, char** argv);
/// gdrkit: short and long options, numbers checked, wrong ones end with usage; --help prints the example.
[[nodiscard]] std::optional<ExitCode> parse_gdrkit(const CommandLine& line, int argc, char** argv);

[[nodiscard]] inline std::optional<ExitCode> parse(const CommandLine& line, Front front, int argc, char** argv) {
  return front == Front::gdrcopy ? parse_gdrcopy(line, argc, argv) : parse_gdrkit(line, argc, argv);
}

}  // namespace gdrkit::tools
