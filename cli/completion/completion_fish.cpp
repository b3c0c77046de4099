// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/completion/completion.hpp"

namespace gdrkit::cli::completion {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char character : text) {
    if (character == '\'' || character == '\\') result += '\\';
    result += character;
  }
  return result + "'";
}

/// " -x", " -x -a 'a b'", " -r -F" or "".
std::string value(const Option& option) {
  if (!takes_value(option)) return "";
  const Values values = values_of(option);
  if (!values.words.empty()) return " -x -a " + quoted(joined(values.words, " "));
  // The file of a document option is optional.
  if (is_document(option)) return " -F";
  return values.are_paths ? " -r -F" : " -x";
}

std::string own_lines(const Entry& entry) {
  const std::string begin =
      std::string("complete -c gdrkit -n '__fish_seen_subcommand_from ") + entry.subcommand.name + "'";
  std::string text;
  for (const Option& option : entry.line.options) {
    text += begin;
    if (option.short_name != '\0') text += std::string(" -s ") + option.short_name;
    text += std::string(" -l ") + option.long_name + value(option) + " -d " + quoted(option.help) + "\n";
  }
  text += begin + " -s h -l help -d 'print the help and exit'\n";
  text += begin + " -l version -d 'print the version and exit'\n";
  const Values values = values_of(entry.line.operands);
  if (!values.words.empty()) text += begin + " -a " + quoted(joined(values.words, " ")) + "\n";
  if (values.are_paths) text += begin + " -F\n";
  return text;
}

std::string gdrcopy_lines(const Entry& entry) {
  const std::string begin = std::string("complete -c gdrcopy_") + entry.subcommand.name;
  std::string text = begin + " -f\n" + begin + " -s h -d 'print the help and exit'\n" + begin +
                     " -l version -d 'print the version and exit'\n";
  for (const Option& option : entry.line.options) {
    if (!option.is_gdrcopy) continue;
    text += begin + (option.short_name != '\0' ? std::string(" -s ") + option.short_name
                                               : std::string(" -l ") + option.long_name);
    text += value(option) + " -d " + quoted(option.help) + "\n";
  }
  return text;
}

}  // namespace

std::string fish_script(const std::vector<Entry>& entries) {
  std::string text =
      "# Completes gdrkit and the gdrcopy_* names in fish. Made by: gdrkit completion fish\n"
      "complete -c gdrkit -f\n"
      "complete -c gdrkit -n __fish_use_subcommand -l help -d 'print the help and exit'\n"
      "complete -c gdrkit -n __fish_use_subcommand -l version -d 'print the version and exit'\n";
  for (const Entry& entry : entries) {
    text += std::string("complete -c gdrkit -n __fish_use_subcommand -a ") + entry.subcommand.name + " -d " +
            quoted(entry.subcommand.summary) + "\n";
  }
  for (const Entry& entry : entries) {
    text += own_lines(entry);
    if (entry.subcommand.has_gdrcopy_name) text += gdrcopy_lines(entry);
  }
  return text;
}

}  // namespace gdrkit::cli::completion
