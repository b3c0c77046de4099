// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The front end of `gdrkit <name>`. The only file that includes CLI11, which is slow to compile.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "cli/common/command_line.hpp"

namespace gdrkit::tools {
namespace {

/// All of `text` as a number, decimal or 0x hexadecimal; throws CLI11's complaint otherwise.
template <class Number>
Number to_number(const std::string& name, const std::string& text) {
  const bool is_hex = text.rfind("0x", 0) == 0;
  const char* begin = text.data() + (is_hex ? 2 : 0);
  const char* end = text.data() + text.size();
  Number value{};
  const auto [stop, error] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end || value < Number{0}) {
    throw CLI::ValidationError(name, "'" + text + "' is not a number here");
  }
  return value;
}

/// What `--compare "$OLD"` gives where OLD is not set: taken as "no option", it would leave out what was asked for.
std::string refuse_empty(const std::string& text) { return text.empty() ? "its value is empty" : ""; }

std::string names_of(const Option& option) {
  std::string names = std::string("--") + option.long_name;
  if (option.short_name != '\0') names = std::string("-") + option.short_name + "," + names;
  return names;
}

template <class Number>
CLI::Option* add_number(CLI::App& app, const Option& option, Number* target) {
  const std::string long_name = option.long_name;
  CLI::Option* added = app.add_option_function<std::string>(
      names_of(option), [=](const std::string& text) { *target = to_number<Number>("--" + long_name, text); },
      option.help);
  return option.shows_default ? added->default_str(std::to_string(*target)) : added;
}

void add(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(
      [&](auto target) -> CLI::Option* {
        using T = decltype(target);
        if constexpr (std::is_same_v<T, bool*>) {
          return app.add_flag(names_of(option), *target, option.help);
        } else if constexpr (std::is_same_v<T, int*> || std::is_same_v<T, std::size_t*>) {
          return add_number(app, option, target);
        } else if constexpr (std::is_same_v<T, Choice>) {
          return app.add_option(names_of(option), *target.target, option.help)
              ->default_str(*target.target)
              ->check(CLI::IsMember(target.words));
        } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
          return app.add_option(names_of(option), *target, option.help)
              ->expected(option.takes_several ? -1 : 1)
              ->take_all()
              ->check(refuse_empty);
        } else {
          return app.add_option(names_of(option), *target, option.help)->check(refuse_empty);
        }
      },
      option.target);
  if (option.value_name[0] != '\0') added->type_name(option.value_name);
}

}  // namespace

std::optional<ExitCode> parse_gdrkit(const CommandLine& line, int argc, char** argv) {
  CLI::App app(line.summary, std::string("gdrkit ") + line.name);
  app.footer(std::string("Example:\n  ") + line.example + "\n\nExit codes: " + line.exit_codes + ".");
  for (const Option& option : line.options) {
    if (option.long_name[0] != '\0') add(app, option);
  }
  if (line.operands.target != nullptr) {
    app.add_option(line.operands.value_name, *line.operands.target, line.operands.help)->type_name("");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "gdrkit %s: %s\nTry: gdrkit %s --help\n", line.name, error.what(), line.name);
    return ExitCode::usage;
  }
  return std::nullopt;
}

}  // namespace gdrkit::tools
