// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The front end of GDRCopy's names: getopt, GDRCopy's messages and exit codes.
#include <getopt.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "cli/interface/command_line.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {
namespace {

// Values of long options, outside the range of characters.
constexpr int version_option = 256;
constexpr int first_long_option = 257;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// strtol with base 0, as GDRCopy's tools parse numbers. Rejects input that they misread: they would take `-s 1M` as 1
/// byte, and a number that is too large as another one.
template <class Number>
bool store_number(const Option& option, const char* value, Number* target) {
  errno = 0;
  char* end = nullptr;
  const long number = std::strtol(value, &end, 0);
  const auto refuse = [&](const std::string& why) {
    std::fprintf(stderr, "ERROR: -%c %s: %s\n", option.short_name, printable(value).c_str(), why.c_str());
    return false;
  };
  if (end == value || *end != '\0') {
    return refuse("not a number; write digits only, for example 1048576 (gdrkit's own tools accept 1M)");
  }
  constexpr bool is_int = std::numeric_limits<Number>::is_signed;
  const bool is_large = errno == ERANGE || (is_int && number > std::numeric_limits<int>::max());
  const bool is_small = is_int && number < std::numeric_limits<int>::min();
  if (is_large || is_small) {
    return refuse(std::string("the number is out of range; use ") +
                  (is_int ? "-2147483648 to 2147483647" : "0 to 9223372036854775807"));
  }
  if (!is_int && number < 0) return refuse("a size cannot be negative");
  *target = static_cast<Number>(number);
  return true;
}

/// Returns false after printing why the value was rejected.
bool store(const Option& option, const char* value) {
  return std::visit(Overloaded{
                        [](bool* target) { return *target = true; },
                        [&](int* target) { return store_number(option, value, target); },
                        [&](std::size_t* target) { return store_number(option, value, target); },
                        [&](std::string* target) { return *target = value, true; },
                        [&](std::vector<std::string>* target) { return target->emplace_back(value), true; },
                        [&](const Choice& choice) {
                          *choice.target = value;
                          if (std::ranges::find(choice.words, value) != choice.words.end()) return true;
                          std::string error = choice.gdrcopy_error;
                          if (const auto gap = error.find("{}"); gap != std::string::npos)
                            error.replace(gap, 2, printable(value));
                          std::fprintf(stderr, "%s\n", error.c_str());
                          return false;
                        },
                        [&](DocumentOption* target) {
                          const std::string path = value == nullptr ? "" : value;
                          *target = {true, path == "-" ? "" : path};
                          return true;
                        },
                    },
                    option.target);
}

/// The table in the form of getopt_long.
struct Scan {
  std::string letters = "h";
  std::vector<::option> long_options = {{"version", no_argument, nullptr, version_option}};
  std::vector<const Option*> by_number;  // indexed from first_long_option
};

Scan scan_for(const CommandLine& line) {
  Scan scan;
  for (const Option& option : line.options) {
    if (!option.is_gdrcopy) continue;
    if (option.short_name != '\0') {
      scan.letters += option.short_name;
      if (option.value_name[0] != '\0') scan.letters += ':';
    } else if (std::holds_alternative<DocumentOption*>(option.target)) {
      const int number = first_long_option + static_cast<int>(scan.by_number.size());
      scan.long_options.push_back({option.long_name, optional_argument, nullptr, number});
      scan.by_number.push_back(&option);
    }
  }
  scan.long_options.push_back({nullptr, 0, nullptr, 0});
  return scan;
}

const Option* find(const CommandLine& line, const Scan& scan, int found) {
  if (found >= first_long_option) return scan.by_number[static_cast<std::size_t>(found - first_long_option)];
  for (const Option& option : line.options) {
    if (option.is_gdrcopy && found == option.short_name && found != '\0') return &option;
  }
  return nullptr;
}

}  // namespace

std::optional<ExitCode> parse_gdrcopy(const CommandLine& line, int argc, char** argv) {
  const Scan scan = scan_for(line);
  const std::string help = gdrcopy_help_text(line, argv[0]);
  // getopt prints unknown options, so they must not contain control characters.
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) words.push_back(argv[i][0] == '-' ? printable(argv[i]) : argv[i]);
  const std::vector<char*> pointers = pointers_to(words);
  optind = 0;  // glibc: resets the state of an earlier scan in this process
  for (;;) {
    const int found = ::getopt_long(argc, pointers.data(), scan.letters.c_str(), scan.long_options.data(), nullptr);
    if (found == -1) return std::nullopt;
    if (found == 'h') {
      std::fputs(help.c_str(), stdout);
      return ExitCode::ok;
    }
    if (found == version_option) {
      std::printf("gdrkit %s\n", gdrkit_version());
      return ExitCode::ok;
    }
    const Option* option = find(line, scan, found);
    if (option == nullptr) {
      std::fprintf(stderr, "%s\n", line.gdrcopy_invalid_option);
      return ExitCode::failed;
    }
    if (!store(*option, optarg)) return ExitCode::failed;
  }
}

}  // namespace gdrkit::cli
