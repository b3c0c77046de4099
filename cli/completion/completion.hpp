// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Completion: scripts that complete gdrkit's command line, generated from the tables of subcommands and options.
#pragma once

#include <string>
#include <vector>

#include "cli/interface/wrapped_text.hpp"
#include "cli/subcommand.hpp"

namespace gdrkit::cli::completion {

/// The input of a script for one subcommand.
struct Entry {
  Subcommand subcommand;
  CommandLine line;
};
[[nodiscard]] std::vector<Entry> all_entries();

/// The completions of an option's value or an operand.
struct Values {
  std::vector<std::string> words;
  bool are_paths = false;
};
[[nodiscard]] Values values_of(const Option& option);
[[nodiscard]] Values values_of(const Operands& operands);
[[nodiscard]] bool takes_value(const Option& option);  ///< true for a document option, whose value is optional
[[nodiscard]] bool is_document(const Option& option);

[[nodiscard]] std::string bash_script(const std::vector<Entry>& entries);
[[nodiscard]] std::string zsh_script(const std::vector<Entry>& entries);
[[nodiscard]] std::string fish_script(const std::vector<Entry>& entries);

}  // namespace gdrkit::cli::completion
