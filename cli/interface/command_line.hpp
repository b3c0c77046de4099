// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// CommandLine: the options of a tool as one table. Two front ends (`gdrkit <name>` and the names of GDRCopy's tools),
// --help and `gdrkit completion` read it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/interface/document_option.hpp"
#include "cli/interface/exit_code.hpp"

namespace gdrkit::cli {

/// gdrcopy: called by the name of a GDRCopy tool, and behaves like that tool. gdrkit: our own interface. table: called
/// only for the table of options, which parse() throws as a CommandLine; its targets are then invalid.
enum class Front { gdrkit, gdrcopy, table };

/// One of several words. `gdrcopy_error` is the message of GDRCopy's tool for other words, with {} for the word.
struct Choice {
  std::vector<std::string> words;
  std::string* target;
  const char* gdrcopy_error;
};

/// Destination of an option's value: a flag sets its bool, an int is a count, a std::size_t is a size (size.hpp), a
/// list collects.
using Target =
    std::variant<bool*, int*, std::size_t*, std::string*, std::vector<std::string>*, Choice, DocumentOption*>;

struct Option {
  char short_name;         ///< '\0': none
  const char* long_name;   ///< only for `gdrkit <name>`, except --json, which is always available
  const char* value_name;  ///< "" for a flag. Completed as a path if it contains FILE, RECORDING, DIR or .json
  Target target;
  std::string help;
  bool is_gdrcopy = true;      ///< GDRCopy's tool has the same short name
  bool shows_default = true;   ///< false if the default means something that `help` explains
  bool takes_several = false;  ///< of a list: one occurrence may have several values
  std::size_t plain_unit = 1;  ///< of a size: the bytes of one unit, for a number without a suffix
  bool is_hidden = false;      ///< for tests: neither in the help nor completed
};

/// An option of the original tool that this tool rejects explicitly.
struct RefusedOption {
  char short_name;            ///< '\0': none
  const char* long_name;      ///< "": none
  const char* reason;         ///< the cause and what to do instead, without a full stop
  const char* accepted = "";  ///< a value that matches what this tool does anyway; "": none
};

/// Words that do not belong to an option. Only for `gdrkit <name>`.
struct Operands {
  std::vector<std::string>* target = nullptr;  ///< nullptr: not allowed
  const char* value_name = "";                 ///< as printed in the usage line
  const char* help = "";
  std::vector<std::string> words = {};  ///< allowed values of the first operand; empty: paths
};

struct CommandLine {
  const char* name;  ///< "copylat"
  const char* summary;
  const char* example;
  /// The message of GDRCopy's tool for an unknown option.
  const char* gdrcopy_invalid_option = "ERROR: invalid option";
  std::vector<Option> options;
  Operands operands{};
  const char* exit_codes = "0 ok, 1 failed, 2 wrong usage, 77 cannot run here";
  bool uses_device = true;               ///< true: measures or checks hardware, so parse() adds --emulated
  std::vector<RefusedOption> refused{};  ///< only for `gdrkit <name>`
};

/// The output of --help for `gdrkit <name>`. The defaults are the current values of the targets.
[[nodiscard]] std::string help_text(const CommandLine& line);
/// For the name of a GDRCopy tool, called as `program`.
[[nodiscard]] std::string gdrcopy_help_text(const CommandLine& line, const std::string& program);

/// Fills the targets. Returns an exit code if the program must end now: help, version or an error message was printed.
/// gdrcopy: short options by getopt, numbers by strtol with base 0, exit code 1 for invalid ones.
[[nodiscard]] std::optional<ExitCode> parse_gdrcopy(const CommandLine& line, int argc, char** argv);
/// gdrkit: short and long options; exit code usage for invalid ones; --help prints the example.
///
/// A document option (--json, --csv) takes a following word as its FILE, unless the word begins with '-'. If the tool
/// has operands, FILE must be attached: --json=FILE.
[[nodiscard]] std::optional<ExitCode> parse_gdrkit(const CommandLine& line, int argc, char** argv);

/// Calls either of them, or throws the table for Front::table. --emulated sets GDRKIT_BACKEND, which choose_device()
/// reads and child processes inherit. Throws Failure(usage) for options that conflict, for documents that cannot be
/// written, and for documents that would replace each other.
[[nodiscard]] std::optional<ExitCode> parse(const CommandLine& line, Front front, int argc, char** argv);

}  // namespace gdrkit::cli
