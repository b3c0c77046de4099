// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/command_line.hpp"
#include "cli/interface/size.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::cli {
namespace {

constexpr std::size_t help_column = 30;

/// "-s, --size BYTES", "    --json [FILE]".
std::string names_of(const Option& option, bool has_operands) {
  const std::string short_name =
      option.short_name == '\0' ? std::string(4, ' ') : std::string("-") + option.short_name + ", ";
  std::string value = option.value_name;
  if (std::holds_alternative<DocumentOption*>(option.target)) {
    // Without operands the next word can only be FILE.
    value = has_operands ? "[=FILE]" : " [FILE]";
  } else if (!value.empty()) {
    value = " " + value;
  }
  return short_name + "--" + option.long_name + value;
}

/// " (default: 16M)", or "".
std::string default_of(const Option& option) {
  if (!option.shows_default) return "";
  std::string value;
  if (const auto* number = std::get_if<int*>(&option.target)) value = std::to_string(**number);
  if (const auto* choice = std::get_if<Choice>(&option.target)) value = *choice->target;
  if (const auto* size = std::get_if<std::size_t*>(&option.target)) value = size_word(**size);
  return value.empty() ? "" : " (default: " + value + ")";
}

std::string line_of(const std::string& names, const std::string& help) {
  const std::string rest(help_column, ' ');
  std::string first = "  " + names;
  if (first.size() + 2 > help_column) return first + "\n" + wrapped(rest, rest, help);
  first.resize(help_column, ' ');
  return wrapped(first, rest, help);
}

}  // namespace

std::string help_text(const CommandLine& line) {
  const bool has_operands = line.operands.target != nullptr;
  std::string text = wrapped("", "", line.summary) + "\nUsage: gdrkit " + line.name + " [options]";
  if (has_operands) text += std::string(" ") + line.operands.value_name;
  text += "\n";
  if (has_operands) text += "\nOperands:\n" + line_of(line.operands.value_name, line.operands.help);
  text += "\nOptions:\n";
  for (const Option& option : line.options) {
    if (option.is_hidden || option.long_name[0] == '\0') continue;
    text += line_of(names_of(option, has_operands), option.help + default_of(option));
  }
  text += line_of("-h, --help", "print this help and exit");
  text += line_of("    --version", "print the version and exit");
  text += std::string("\nExample:\n  ") + line.example + "\n";
  return text + "\n" + wrapped("Exit codes: ", std::string(12, ' '), line.exit_codes);
}

std::string gdrcopy_help_text(const CommandLine& line, const std::string& program) {
  constexpr std::size_t column = 18;
  std::string text = "Usage: " + program + " [options]\n" + wrapped("", "", line.summary) + "\nOptions:\n";
  const auto add = [&](const std::string& names, const std::string& help) {
    std::string first = "  " + names + "  ";
    if (first.size() < column) first.resize(column, ' ');
    text += wrapped(first, std::string(first.size(), ' '), help);
  };
  add("-h", "Print this help text");
  for (const Option& option : line.options) {
    if (!option.is_gdrcopy) continue;
    const bool is_document = std::holds_alternative<DocumentOption*>(option.target);
    const std::string value = is_document ? "[=FILE]" : std::string(" ") + option.value_name;
    const std::string name =
        option.short_name == '\0' ? std::string("--") + option.long_name : std::string("-") + option.short_name;
    add(name + value, option.help);
  }
  add("--version", "print the version and exit");
  return text;
}

}  // namespace gdrkit::cli
