// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The one program: finds the subcommand by the program's own name or by the first word.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "cli/interface/suggestion.hpp"
#include "cli/subcommand.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {
namespace {

std::string file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// "gdrcopy_copylat" and "copylat" are names of GDRCopy's tools.
const Subcommand* find_by_program(const char* path) {
  std::string name = file_name(path);
  constexpr char prefix[] = "gdrcopy_";
  if (name.starts_with(prefix)) name = name.substr(sizeof(prefix) - 1);
  const Subcommand* found = find_subcommand(name);
  return found != nullptr && found->has_gdrcopy_name ? found : nullptr;
}

void print_help(std::FILE* out) {
  std::fprintf(out, "gdrkit %s: CPU access to GPU memory\n\nUsage: gdrkit <subcommand> [options]\n\nSubcommands:\n",
               gdrkit_version());
  for (const Subcommand& subcommand : all_subcommands()) {
    std::fprintf(out, "  %-10s  %s\n", subcommand.name, subcommand.summary);
  }
  std::fprintf(
      out,
      "\n'gdrkit <subcommand> --help' lists its options and shows an example; 'gdrkit --version' prints the version.\n"
      "Called as gdrcopy_<name>, it accepts the options and prints the lines of that GDRCopy tool;\n"
      "as all_reduce_perf, osu_latency and the like, those of nccl-tests and OSU.\n"
      "Sizes are bytes, or K, M, G and T for powers of 1024: 64K, 1.5G.\n"
      "Exit codes: 0 ok, 1 failed, 2 wrong usage, 77 cannot run here; doctor has its own.\n");
}

/// Otherwise the next socket or file would get a closed standard descriptor's number, and receive the output.
/// /dev/null, opened for the opposite direction, keeps the number and fails reads and writes as before.
void keep_standard_descriptors() {
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // open() returns the lowest free number. That is this one, because those below it are open.
    if (::fcntl(standard, F_GETFD) < 0) (void)::open("/dev/null", standard == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Makes each line one write(2). From glibc 2.37 on, fprintf to an unbuffered stream writes 128 bytes at a time, so the
/// errors of two processes would mix within words.
void buffer_lines_of_errors() {
  static char buffer[std::size_t{64} << 10];
  (void)std::setvbuf(stderr, buffer, _IOLBF, sizeof buffer);
}

/// Output that could not be written (a full disk, a closed pipe) is a failure.
ExitCode after_output(const std::string& program, ExitCode code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "%s: cannot write the output; check the free disk space, or the program that reads the output\n",
               program.c_str());
  return code == ExitCode::ok ? ExitCode::failed : code;
}

int run(const Subcommand& subcommand, Front front, int argc, char** argv) {
  ExitCode code = ExitCode::failed;
  // Makes a write beyond ulimit -f fail instead of ending the program without a message. `run` and `bind` start other
  // programs, which must inherit the default action of the signal.
  if (std::strcmp(subcommand.name, "run") != 0 && std::strcmp(subcommand.name, "bind") != 0) {
    std::signal(SIGXFSZ, SIG_IGN);
  }
  try {
    code = subcommand.run(front, argc, argv);
  } catch (const Failure& failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", printable(failure.what()).c_str());
    // GDRCopy's tools end with this line. It is useless to users of gdrkit's names.
    if (front == Front::gdrcopy && !failure.assertion().empty()) {
      std::fprintf(stderr, "%s\n", failure.assertion().c_str());
    }
    code = failure.code();
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "gdrkit %s: %s\n", subcommand.name, printable(error.what()).c_str());
  }
  code = after_output(std::string("gdrkit ") + subcommand.name, code);
  if (front == Front::gdrcopy && code != ExitCode::ok) code = ExitCode::failed;
  return static_cast<int>(code);
}

/// "all_reduce_perf" is the subcommand nccl with that first word; nullptr unless other_names.def contains the name.
const Subcommand* find_by_other_name(const std::string& name) {
#define GDRKIT_OTHER_NAME(other, subcommand) \
  if (name == #other) return find_subcommand(#subcommand);
#include "cli/other_names.def"
#undef GDRKIT_OTHER_NAME
  return nullptr;
}

int run_by_other_name(const Subcommand& subcommand, const std::string& name, int argc, char** argv) {
  std::string word = name;
  std::vector<char*> words = {argv[0], word.data()};
  words.insert(words.end(), argv + 1, argv + argc);
  words.push_back(nullptr);
  return run(subcommand, Front::gdrkit, argc + 1, words.data());
}

int refuse(const std::string& word) {
  std::vector<std::string> names = {"help", "--help", "--version"};
  for (const Subcommand& subcommand : all_subcommands()) names.emplace_back(subcommand.name);
  std::fprintf(stderr, "gdrkit: unknown %s '%s'%s\nTry: gdrkit --help\n",
               word.starts_with("-") ? "option" : "subcommand", printable(word).c_str(),
               did_you_mean(word, names).c_str());
  return static_cast<int>(ExitCode::usage);
}

}  // namespace

int run_program(int argc, char** argv) {
  if (argc < 1) return static_cast<int>(ExitCode::usage);
  if (const Subcommand* subcommand = find_by_program(argv[0])) return run(*subcommand, Front::gdrcopy, argc, argv);
  const std::string program = file_name(argv[0]);
  if (const Subcommand* subcommand = find_by_other_name(program)) {
    return run_by_other_name(*subcommand, program, argc, argv);
  }
  const std::string word = argc < 2 ? "" : argv[1];
  if (word == "--help" || word == "-h" || word == "help") {
    print_help(stdout);
    return static_cast<int>(after_output("gdrkit", ExitCode::ok));
  }
  if (word == "--version") {
    std::printf("gdrkit %s\n", gdrkit_version());
    return static_cast<int>(after_output("gdrkit", ExitCode::ok));
  }
  if (const Subcommand* subcommand = find_subcommand(word)) {
    return run(*subcommand, Front::gdrkit, argc - 1, argv + 1);
  }
  if (!word.empty()) return refuse(word);
  print_help(stderr);
  return static_cast<int>(ExitCode::usage);
}

}  // namespace gdrkit::cli

int main(int argc, char** argv) {
  gdrkit::cli::keep_standard_descriptors();
  gdrkit::cli::buffer_lines_of_errors();
  return gdrkit::cli::run_program(argc, argv);
}
