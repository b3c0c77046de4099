// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/snapshot/recorded_paths.hpp"

#include <algorithm>
#include <cstdio>

namespace gdrkit::diag::snapshot {
namespace {

constexpr const char* variables[] = {
#define GDRKIT_VARIABLE(name) name,
#include "diag/snapshot/variables.def"
#undef GDRKIT_VARIABLE
};

/// SLURM_JWT and NVIDIA_API_KEY start like harmless names.
constexpr std::string_view secrets[] = {"TOKEN", "SECRET",  "PASSW",  "PASSPHRASE", "CREDENTIAL", "COOKIE", "JWT",
                                        "AUTH",  "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE",    "CERT"};

bool may_be_secret(std::string_view spelt) {
  std::string name(spelt);  // Open MPI's parameters are in lower case
  std::ranges::transform(name, name.begin(),
                         [](char c) { return static_cast<char>(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c); });
  const auto is_in = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  return std::ranges::any_of(secrets, is_in) || name.ends_with("_KEY") || name.ends_with("_PWD") ||
         name.ends_with("_PASS");
}

}  // namespace

const std::vector<RecordedPath>& recorded_paths() {
  static const std::vector<RecordedPath> paths = [] {
    std::vector<RecordedPath> all = {
#define GDRKIT_PATH(kind, pattern, purpose) {Kind::kind, pattern, purpose},
#include "diag/snapshot/paths.def"
#undef GDRKIT_PATH
    };
    for (const doctor::Check& check : doctor::all_checks()) {
      all.insert(all.end(), check.advice->paths.begin(), check.advice->paths.end());
    }
    return all;
  }();
  return paths;
}

std::vector<std::string> without_braces(const std::string& pattern) {
  const auto open = pattern.find('{');
  const auto close = pattern.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {pattern};
  std::vector<std::string> all;
  for (std::size_t at = open + 1; at <= close;) {
    const auto end = std::min(pattern.find(',', at), close);
    for (std::string& one :
         without_braces(pattern.substr(0, open) + pattern.substr(at, end - at) + pattern.substr(close + 1))) {
      all.push_back(std::move(one));
    }
    at = end + 1;
  }
  return all;
}

bool is_described(std::string_view name, std::string_view pattern) {
  // If the rest does not match, the last * takes one character more.
  std::size_t star = std::string_view::npos;
  std::size_t from = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      from = i;
    } else if (at < pattern.size() && pattern[at] == name[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

bool is_recorded_variable(std::string_view name) {
  const auto names_it = [&](const char* pattern) { return is_described(name, pattern); };
  return std::ranges::any_of(variables, names_it) && !may_be_secret(name);
}

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"content", "name", "setpci", "variables"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<std::string> recorded_variables() { return {std::begin(variables), std::end(variables)}; }

void print_recorded_paths() {
  std::printf(
      "A recording contains these files, if they exist (content: the whole file; name: only that it exists; setpci: "
      "files that mention setpci; $PCI: each GPU, adapter and bridge; $LIBRARIES: each library directory):\n");
  for (const RecordedPath& path : recorded_paths()) {
    std::printf("%-9s  %s\n           %s\n", name_of(path.kind), path.pattern, path.purpose);
  }
  std::printf(
      "Variables of the environment, except those whose names contain key, token or password; HOME only if one of the "
      "files below it exists:\n ");
  for (const char* name : variables) std::printf(" %s", name);
  std::printf("\n");
}

}  // namespace gdrkit::diag::snapshot
