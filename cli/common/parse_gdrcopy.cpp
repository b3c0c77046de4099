// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The front end of the predecessor's names: getopt, its messages, its exit codes.
#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/common/command_line.hpp"

namespace gdrkit::tools {
namespace {

constexpr int json_option = 256;  // outside the range of characters

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

void print_usage(const CommandLine& line, const char* program) {
  std::printf("Usage: %s [options]\n", program);
  std::printf("%s\n\nOptions:\n  -h              Print this help text\n", line.summary);
  for (const Option& option : line.options) {
    if (!option.is_gdrcopy) continue;
    const std::string name =
        option.short_name == '\0' ? std::string("--") + option.long_name : std::string("-") + option.short_name;
    std::printf("  %-14s  %s\n", (name + " " + option.value_name).c_str(), option.help);
  }
}

/// false: the value was refused, and why was printed.
bool store(const Option& option, const char* value) {
  return std::visit(
      Overloaded{
          [](bool* target) { return *target = true; },
          [&](int* target) { return *target = static_cast<int>(std::strtol(value, nullptr, 0)), true; },
          [&](std::size_t* target) { return *target = static_cast<std::size_t>(std::strtol(value, nullptr, 0)), true; },
          [&](std::string* target) { return *target = value, true; },
          [&](std::vector<std::string>* target) { return target->emplace_back(value), true; },
          [&](const Choice& choice) {
            *choice.target = value;
            if (std::find(choice.words.begin(), choice.words.end(), value) != choice.words.end()) {
              return true;
            }
            std::string complaint = choice.gdrcopy_complaint;
            if (const auto gap = complaint.find("{}"); gap != std::string::npos) {
              complaint.replace(gap, 2, value);
            }
            std::fprintf(stderr, "%s\n", complaint.c_str());
            return false;
          },
      },
      option.target);
}

const Option* find(const CommandLine& line, int letter) {
  for (const Option& option : line.options) {
    const bool is_meant = letter == json_option ? std::string("json") == option.long_name : letter == option.short_name;
    if (option.is_gdrcopy && is_meant && letter != '\0') return &option;
  }
  return nullptr;
}

}  // namespace

std::optional<ExitCode> parse_gdrcopy(const CommandLine& line, int argc, char** argv) {
  std::string letters = "h";
  for (const Option& option : line.options) {
    if (!option.is_gdrcopy || option.short_name == '\0') continue;
    letters += option.short_name;
    if (option.value_name[0] != '\0') letters += ':';
  }
  const ::option long_options[] = {{"json", no_argument, nullptr, json_option}, {nullptr, 0, nullptr, 0}};
  optind = 0;  // glibc: forget what an earlier scan of this process left
  for (;;) {
    const int letter = ::getopt_long(argc, argv, letters.c_str(), long_options, nullptr);
    if (letter == -1) return std::nullopt;
    if (letter == 'h') {
      print_usage(line, argv[0]);
      return ExitCode::ok;
    }
    const Option* option = find(line, letter);
    if (option == nullptr) {
      std::fprintf(stderr, "%s\n", line.gdrcopy_invalid_option);
      return ExitCode::failed;
    }
    if (!store(*option, optarg)) return ExitCode::failed;
  }
}

}  // namespace gdrkit::tools
