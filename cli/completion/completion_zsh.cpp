// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/completion/completion.hpp"

namespace gdrkit::cli::completion {
namespace {

/// Escapes the characters that are special within single quotes in a specification of _arguments or _describe.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character == '\'') {
      result += "'\\''";
      continue;
    }
    if (character == '[' || character == ']' || character == ':' || character == '\\') result += '\\';
    result += character;
  }
  return result;
}

std::string action(const Values& values) {
  if (!values.words.empty()) return "(" + joined(values.words, " ") + ")";
  return values.are_paths ? "_files" : " ";
}

/// ":BYTES: " and the like; "" for a flag.
std::string value(const Option& option, bool has_operands) {
  if (!takes_value(option)) return "";
  const std::string name = is_document(option) ? "FILE" : escaped(option.value_name);
  const bool is_optional = is_document(option);
  return std::string(is_optional ? "::" : ":") + name + ":" +
         (is_optional && has_operands ? std::string("_files") : action(values_of(option)));
}

std::string own_option(const Option& option, bool has_operands) {
  const std::string long_name = std::string("--") + option.long_name;
  // "=-": the value only in the same word; "=": in the same or the next word.
  const char* joint = !takes_value(option) ? "" : is_document(option) && has_operands ? "=-" : "=";
  const std::string rest = "[" + escaped(option.help) + "]" + value(option, has_operands) + "'";
  std::string text = "        '" + long_name + joint + rest + " \\\n";
  if (option.short_name != '\0') text += std::string("        '-") + option.short_name + rest + " \\\n";
  return text;
}

std::string operands(const CommandLine& line) {
  if (line.operands.target == nullptr) return "        && return ;;\n";
  const Values values = values_of(line.operands);
  std::string text = "        '1:operand:" + action(values) + "' \\\n";
  text += "        '*:operand:_files' && return ;;\n";
  return text;
}

std::string gdrcopy_case(const Entry& entry) {
  std::string text = std::string("    gdrcopy_") + entry.subcommand.name + ")\n      _arguments -s \\\n";
  for (const Option& option : entry.line.options) {
    if (!option.is_gdrcopy) continue;
    const std::string name =
        option.short_name != '\0' ? std::string("-") + option.short_name : std::string("--") + option.long_name;
    const char* joint = is_document(option) ? "=-" : "";
    text += "        '" + name + joint + "[" + escaped(option.help) + "]" + value(option, true) + "' \\\n";
  }
  return text + "        '-h[print the help and exit]' '--version[print the version and exit]' && return ;;\n";
}

}  // namespace

std::string zsh_script(const std::vector<Entry>& entries) {
  std::string programs = "gdrkit";
  for (const Entry& entry : entries) {
    if (entry.subcommand.has_gdrcopy_name) programs += std::string(" gdrcopy_") + entry.subcommand.name;
  }
  std::string text = "#compdef " + programs +
                     "\n# Completes gdrkit and the gdrcopy_* names in zsh. Made by: gdrkit completion zsh\n"
                     "_gdrkit() {\n  local -a subcommands\n  case ${service:-${words[1]:t}} in\n";
  for (const Entry& entry : entries) {
    if (entry.subcommand.has_gdrcopy_name) text += gdrcopy_case(entry);
  }
  text += "  esac\n  subcommands=(\n";
  for (const Entry& entry : entries) {
    text += std::string("    '") + entry.subcommand.name + ":" + escaped(entry.subcommand.summary) + "'\n";
  }
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe -t subcommands 'subcommand' subcommands\n"
      "    _arguments '--help[print the help and exit]' '--version[print the version and exit]'\n    return\n  fi\n"
      "  shift words\n  (( CURRENT-- ))\n  case ${words[1]} in\n";
  for (const Entry& entry : entries) {
    text += std::string("    ") + entry.subcommand.name + ")\n      _arguments -s \\\n";
    for (const Option& option : entry.line.options) {
      text += own_option(option, entry.line.operands.target != nullptr);
    }
    text += "        '(-h --help)'{-h,--help}'[print the help and exit]' '--version[print the version and exit]' \\\n";
    text += operands(entry.line);
  }
  return text +
         "  esac\n}\n"
         "if [[ ${funcstack[1]} == _gdrkit ]]; then _gdrkit \"$@\"; else compdef _gdrkit " +
         programs + "; fi\n";
}

}  // namespace gdrkit::cli::completion
