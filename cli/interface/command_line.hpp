// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommandLine: a tool's options as one table, read by two front ends (`gdrkit <name>` and the names of GDRCopy's
// tools), by --help and by `gdrkit completion`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {

/// gdrcopy: called by the name of one of GDRCopy's tools, behaves as that does. gdrkit: our own. table: called for the
/// table of options alone, which parse() throws as a CommandLine; its targets are dead by then.
enum class Front { gdrkit, gdrcopy, table };

/// One of some words. `gdrcopy_error` is what GDRCopy's tool says to others, with {} for the word.
struct Choice {
  std::vector<std::string> words;
  std::string* target;
  const char* gdrcopy_error;
};

/// Where an option's value goes: a flag sets its bool, an int counts, a std::size_t is a size (size.hpp), a list
/// collects.
using Target =
    std::variant<bool*, int*, std::size_t*, std::string*, std::vector<std::string>*, Choice, DocumentOption*>;

struct Option {
  char short_name;         ///< '\0': none
  const char* long_name;   ///< only `gdrkit <name>` has it, but for --json, which all have
  const char* value_name;  ///< "" for a flag. FILE, RECORDING, FOLDER and .json in it: completed as a path
  Target target;
  std::string help;
  bool is_gdrcopy = true;      ///< GDRCopy's tool has its short name
  bool shows_default = true;   ///< false where the value stands for something that `help` says
  bool takes_several = false;  ///< of a list: one mention may bring several values
  std::size_t plain_unit = 1;  ///< of a size: how many bytes a number without a unit counts
  bool is_hidden = false;      ///< for tests: neither in the help nor completed
};

/// An option of the original tool that this one rejects by name.
struct RefusedOption {
  char short_name;            ///< '\0': none
  const char* long_name;      ///< "": none
  const char* reason;         ///< the cause and what to do instead, without a full stop
  const char* accepted = "";  ///< a value that matches what this tool does anyway; "": none
};

/// Words that belong to no option. Only `gdrkit <name>` has them.
struct Operands {
  std::vector<std::string>* target = nullptr;  ///< nullptr: there may be none
  const char* value_name = "";                 ///< as the usage line shows it
  const char* help = "";
  std::vector<std::string> words = {};  ///< that the first may be; empty: paths
};

struct CommandLine {
  const char* name;  ///< "copylat"
  const char* summary;
  const char* example;
  /// The words of GDRCopy's tool for an option that it does not know.
  const char* gdrcopy_invalid_option = "ERROR: invalid option";
  std::vector<Option> options;
  Operands operands{};
  const char* exit_codes = "0 ok, 1 failed, 2 wrong usage, 77 cannot run here";
  bool uses_device = true;               ///< true: measures or checks hardware, so parse() adds --emulated
  std::vector<RefusedOption> refused{};  ///< only of `gdrkit <name>`
};

/// Fills the targets. A value: end now with this code (help or version was printed, or an error message was).
/// gdrcopy: short options by getopt, numbers by strtol with base 0, wrong ones end with 1.
[[nodiscard]] std::optional<ExitCode> parse_gdrcopy(const CommandLine& line, int argc, char** argv);
/// gdrkit: short and long options; wrong ones end with usage; --help prints the example.
///
/// A document option (--json, --csv) followed by a word that does not begin with '-' takes it as its FILE; where the
/// tool has operands that word would be one of them, so there FILE must be attached: --json=FILE.
[[nodiscard]] std::optional<ExitCode> parse_gdrkit(const CommandLine& line, int argc, char** argv);

/// Either of them, or for Front::table throws the table. --emulated sets GDRKIT_BACKEND, which choose_device() reads
/// and processes started later inherit. Throws Failure(usage) for options that conflict and for documents that cannot
/// be written, or that would replace each other.
[[nodiscard]] std::optional<ExitCode> parse(const CommandLine& line, Front front, int argc, char** argv);

}  // namespace gdrkit::cli
