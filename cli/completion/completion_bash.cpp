// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// For bash 4 and later.
#include "cli/completion/completion.hpp"

namespace gdrkit::cli::completion {
namespace {

constexpr const char* bash_head = R"(# Completes gdrkit and the gdrcopy_* names in bash. Made by: gdrkit completion bash
_gdrkit_fill() {  # CURRENT WORDS ARE_PATHS
  mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
  [[ -n $3 ]] || return 0
  local paths
  mapfile -t paths < <(compgen -f -- "$1")
  COMPREPLY+=("${paths[@]}")
  compopt -o filenames 2>/dev/null
}

_gdrkit() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} name=${1##*/} at words paths=
  # bash takes --option=value for three words.
  if [[ $current == "=" ]]; then current=; elif [[ $previous == "=" ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $name == gdrcopy_* ]]; then
)";

constexpr const char* bash_middle = R"(    _gdrkit_fill "$current" "$words" ""
    return
  fi
  for ((at = 2; at < COMP_CWORD; ++at)); do  # what follows -- is another program's
    if [[ ${COMP_WORDS[at]} == -- ]]; then _gdrkit_fill "$current" "" 1; return; fi
  done
  name=${COMP_WORDS[1]}
  if ((COMP_CWORD == 1)); then name=; fi
  case $name in
)";

constexpr const char* bash_tail = R"(  esac
  _gdrkit_fill "$current" "$words" "$paths"
}
)";

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  if (option.short_name != '\0') names.push_back(std::string("-") + option.short_name);
  names.push_back(std::string("--") + option.long_name);
  return names;
}

std::string assignment(const Values& values) {
  return "words='" + joined(values.words, " ") + "'" + (values.are_paths ? " paths=1" : "");
}

/// The options of one of the gdrcopy_* names.
std::string gdrcopy_case(const Entry& entry) {
  std::vector<std::string> all = {"-h", "--version"};
  std::string cases;
  for (const Option& option : entry.line.options) {
    if (!option.is_gdrcopy) continue;
    const std::string name = option.short_name != '\0' ? names_of(option).front() : names_of(option).back();
    all.push_back(name);
    if (takes_value(option) && !is_document(option)) {
      cases += "          " + name + ") " + assignment({values_of(option).words, false}) + " ;;\n";
    }
  }
  return std::string("      gdrcopy_") + entry.subcommand.name + ")\n        words='" + joined(all, " ") +
         "'\n        [[ $current == -* ]] || case $previous in\n" + cases + "        esac ;;\n";
}

std::string own_case(const Entry& entry) {
  std::vector<std::string> all;
  std::string cases;
  for (const Option& option : entry.line.options) {
    all.push_back(names_of(option).back());
    const bool is_next_value = !is_document(option) || entry.line.operands.target == nullptr;
    if (takes_value(option) && is_next_value) {
      cases += "        " + joined(names_of(option), "|") + ") " + assignment(values_of(option)) + " ;;\n";
    }
  }
  all.insert(all.end(), {"--help", "--version"});
  return std::string("    ") + entry.subcommand.name + ")\n      if [[ $current == -* ]]; then words='" +
         joined(all, " ") + "'; else case $previous in\n" + cases + "        *) " +
         assignment(values_of(entry.line.operands)) + " ;;\n      esac; fi ;;\n";
}

}  // namespace

std::string bash_script(const std::vector<Entry>& entries) {
  std::string text = bash_head;
  std::vector<std::string> names;
  std::vector<std::string> programs = {"gdrkit"};
  text += "    case $name in\n";
  for (const Entry& entry : entries) {
    names.emplace_back(entry.subcommand.name);
    if (!entry.subcommand.has_gdrcopy_name) continue;
    programs.push_back(std::string("gdrcopy_") + entry.subcommand.name);
    text += gdrcopy_case(entry);
  }
  text += "    esac\n";
  text += bash_middle;
  names.insert(names.end(), {"help", "--help", "--version"});
  text += "    '') words='" + joined(names, " ") + "' ;;\n";
  for (const Entry& entry : entries) text += own_case(entry);
  return text + bash_tail + "complete -F _gdrkit " + joined(programs, " ") + "\n";
}

}  // namespace gdrkit::cli::completion
