// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/completion/completion.hpp"

#include <cstdio>

namespace gdrkit::cli::completion {

std::vector<Entry> all_entries() {
  std::vector<Entry> entries;
  for (const Subcommand& subcommand : all_subcommands()) {
    entries.push_back({subcommand, options_of(subcommand)});
    std::erase_if(entries.back().line.options, [](const Option& option) { return option.is_hidden; });
  }
  return entries;
}

bool is_document(const Option& option) { return std::holds_alternative<DocumentOption*>(option.target); }

bool takes_value(const Option& option) { return option.value_name[0] != '\0'; }

Values values_of(const Option& option) {
  Values values;
  if (const auto* choice = std::get_if<Choice>(&option.target)) values.words = choice->words;
  const std::string name = option.value_name;
  for (const char* path : {"FILE", "RECORDING", "DIR", "ARCHIVE", ".json"}) {
    values.are_paths = values.are_paths || name.find(path) != std::string::npos;
  }
  return values;
}

Values values_of(const Operands& operands) {
  return {operands.words, operands.target != nullptr && operands.words.empty()};
}

ExitCode run_completion(Front front, int argc, char** argv) {
  std::vector<std::string> words;
  CommandLine line;
  line.name = "completion";
  line.uses_device = false;
  line.summary = "Prints a script that completes gdrkit's subcommands, options and their values in a shell.";
  line.example =
      "gdrkit completion bash > ~/.local/share/bash-completion/completions/gdrkit\n"
      "  gdrkit completion zsh > ~/.zsh/functions/_gdrkit     # a directory in fpath, before compinit runs\n"
      "  gdrkit completion fish > ~/.config/fish/completions/gdrkit.fish";
  line.exit_codes = "0 ok, 1 failed, 2 wrong usage";
  line.operands = {&words, "SHELL", "bash, zsh or fish", {"bash", "zsh", "fish"}};
  if (const auto ended = parse(line, front, argc, argv)) return *ended;
  const std::string shell = words.size() == 1 ? words.front() : "";
  std::string (*script)(const std::vector<Entry>&) = shell == "bash"   ? &bash_script
                                                     : shell == "zsh"  ? &zsh_script
                                                     : shell == "fish" ? &fish_script
                                                                       : nullptr;
  if (script == nullptr) {
    reject("gdrkit completion: the shell is missing; give bash, zsh or fish, for example: gdrkit completion bash");
  }
  std::fputs(script(all_entries()).c_str(), stdout);
  return ExitCode::ok;
}

}  // namespace gdrkit::cli::completion
