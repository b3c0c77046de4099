// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The front end of `gdrkit <name>`. The only file that includes CLI11, which is slow to compile.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <type_traits>

#include "base/number.hpp"
#include "cli/interface/command_line.hpp"
#include "cli/interface/size.hpp"
#include "cli/interface/suggestion.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {
namespace {

std::string dashed(const Option& option) { return std::string("--") + option.long_name; }

[[noreturn]] void refuse(const Option& option, const std::string& text, const std::string& why) {
  throw CLI::ValidationError(dashed(option), "'" + text + "' " + why);
}

/// Parses all of `text` as a decimal or 0x hexadecimal number.
int to_number(const Option& option, const std::string& text) {
  int value = 0;
  if (base::parse_prefixed_number(text, &value) && value >= 0) return value;
  refuse(option, text, format("is not a whole number from 0 to %d", std::numeric_limits<int>::max()));
}

std::size_t to_bytes(const Option& option, const std::string& text) {
  if (const auto size = to_size(text, option.plain_unit)) return *size;
  refuse(option, text, std::string("is not a size; ") + size_grammar);
}

/// If the present value means "not given" (Option::shows_default), the same value on the command line is rejected: it
/// would silently mean the default.
template <class Number>
Number unless_sentinel(const Option& option, Number sentinel, Number value, const std::string& text) {
  if (option.shows_default || option.is_hidden || value != sentinel) return value;
  refuse(option, text, "is not allowed here; omit the option to use the default");
}

/// `--compare "$OLD"` yields an empty value if OLD is not set. Treating it as "not given" would silently omit the
/// comparison.
std::string refuse_empty(const std::string& text) {
  return text.empty() ? "its value is empty; give a value or omit the option" : "";
}

std::string choose(const Option& option, const std::vector<std::string>& words, const std::string& text) {
  if (std::ranges::find(words, text) != words.end()) return text;
  refuse(option, text, "is not one of " + joined(words, ", ") + did_you_mean(text, words));
}

void add(CLI::App& app, const Option& option) {
  const std::string names =
      (option.short_name == '\0' ? "" : std::string("-") + option.short_name + ",") + dashed(option);
  const auto by_function = [&](auto take) { return app.add_option_function<std::string>(names, take); };
  // `option` belongs to the table, which outlives the parsing.
  CLI::Option* added = std::visit(
      [&](auto target) -> CLI::Option* {
        using T = decltype(target);
        if constexpr (std::is_same_v<T, bool*>) {
          return app.add_flag(names, *target);
        } else if constexpr (std::is_same_v<T, int*>) {
          return by_function([&option, target](const std::string& text) {
            *target = unless_sentinel(option, *target, to_number(option, text), text);
          });
        } else if constexpr (std::is_same_v<T, std::size_t*>) {
          return by_function([&option, target](const std::string& text) {
            *target = unless_sentinel(option, *target, to_bytes(option, text), text);
          });
        } else if constexpr (std::is_same_v<T, Choice>) {
          return by_function(
              [&option, target](const std::string& text) { *target.target = choose(option, target.words, text); });
        } else if constexpr (std::is_same_v<T, DocumentOption*>) {
          return by_function([target](const std::string& text) {
                   *target = {true, text == "-" ? "" : text};
                 })
              ->check(refuse_empty);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>*>) {
          return app.add_option(names, *target)
              ->expected(option.takes_several ? -1 : 1)
              ->take_all()
              ->check(refuse_empty);
        } else {
          return app.add_option(names, *target)->check(refuse_empty);
        }
      },
      option.target);
  if (option.value_name[0] != '\0') added->type_name(option.value_name);
}

std::string names_of(const RefusedOption& option, const char* separator) {
  const std::string short_name = option.short_name == '\0' ? "" : std::string("-") + option.short_name;
  const std::string long_name = option.long_name[0] == '\0' ? "" : std::string("--") + option.long_name;
  return short_name + (short_name.empty() || long_name.empty() ? "" : separator) + long_name;
}

/// Accepts the value too, so that it is not parsed as an operand.
std::vector<CLI::Option*> add_refused(CLI::App& app, const std::vector<RefusedOption>& refused) {
  std::vector<CLI::Option*> added;
  for (const RefusedOption& option : refused) {
    added.push_back(app.add_option(names_of(option, ","))->expected(0, 1)->take_all());
  }
  return added;
}

/// Why the first given option of `refused` is rejected; "" if none was given.
std::string refusal_of(const std::vector<RefusedOption>& refused, const std::vector<CLI::Option*>& added) {
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const char* const accepted = refused[i].accepted;
    const bool is_accepted = accepted[0] != '\0' && added[i]->results() == std::vector<std::string>{accepted};
    if (added[i]->count() == 0 || is_accepted) continue;
    return names_of(refused[i], ", ") + " is not supported: " + refused[i].reason;
  }
  return "";
}

/// `--json` without FILE means standard output, but CLI11 always requires a value. In CLI11's order: the last word
/// first.
std::vector<std::string> words_of(const CommandLine& line, int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool has_operands = line.operands.target != nullptr;
  for (std::size_t at = 0; at < words.size() && words[at] != "--"; ++at) {
    const bool is_document = std::ranges::any_of(line.options, [&](const Option& option) {
      return std::holds_alternative<DocumentOption*>(option.target) && words[at] == dashed(option);
    });
    if (!is_document) continue;
    const bool has_next =
        at + 1 < words.size() && (words[at + 1].empty() || words[at + 1][0] != '-' || words[at + 1] == "-");
    if (has_operands || !has_next) words[at] += "=-";
  }
  std::ranges::reverse(words);
  return words;
}

std::string unexpected(const CommandLine& line, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with("-")) return "unexpected argument '" + word + "'";
  std::vector<std::string> known = {"--help", "--version"};
  for (const Option& option : line.options) {
    if (!option.is_hidden) known.push_back(dashed(option));
  }
  return "unknown option '" + name + "'" + did_you_mean(name, known);
}

ExitCode complain(const CommandLine& line, const std::string& text) {
  std::fprintf(stderr, "gdrkit %s: %s\nTry: gdrkit %s --help\n", line.name, printable(text).c_str(), line.name);
  return ExitCode::usage;
}

}  // namespace

std::optional<ExitCode> parse_gdrkit(const CommandLine& line, int argc, char** argv) {
  const std::string help = help_text(line);  // before the targets change
  CLI::App app;
  app.allow_extras();
  app.set_version_flag("--version", std::string("gdrkit ") + gdrkit_version());
  for (const Option& option : line.options) {
    if (option.long_name[0] != '\0') add(app, option);
  }
  const std::vector<CLI::Option*> refused = add_refused(app, line.refused);
  if (line.operands.target != nullptr) app.add_option("operands", *line.operands.target);
  try {
    app.parse(words_of(line, argc, argv));
  } catch (const CLI::CallForHelp&) {
    std::fputs(help.c_str(), stdout);
    return ExitCode::ok;
  } catch (const CLI::CallForVersion&) {
    std::printf("gdrkit %s\n", gdrkit_version());
    return ExitCode::ok;
  } catch (const CLI::ParseError& error) {
    return complain(line, error.what());
  }
  if (const std::string why = refusal_of(line.refused, refused); !why.empty()) return complain(line, why);
  for (const std::string& extra : app.remaining()) {
    if (extra != "--") return complain(line, unexpected(line, extra));
  }
  return std::nullopt;
}

}  // namespace gdrkit::cli
