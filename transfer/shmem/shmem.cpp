// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// gdrkit shmem: selects the part. Each part has its own table of options.
#include <cstring>

#include "cli/interface/suggestion.hpp"
#include "transfer/shmem/parts.hpp"

namespace gdrkit::transfer::shmem {
namespace {

struct Part {
  const char* name;
  cli::ExitCode (*run)(cli::Front front, int argc, char** argv);
};
constexpr Part parts[] = {{"info", &run_info}, {"check", &run_check}, {"bench", &run_bench}};

cli::CommandLine command_line(std::vector<std::string>* words) {
  cli::CommandLine line;
  line.name = "shmem";
  line.uses_device = false;
  line.summary = "Describes, tests and measures one-sided communication between GPUs.";
  line.example = "gdrkit shmem info\n  gdrkit shmem check --help";
  line.operands = {words, "PART [OPTIONS]", "info, check or bench; each has its own --help", {}};
  for (const Part& part : parts) line.operands.words.emplace_back(part.name);
  return line;
}

}  // namespace

cli::ExitCode run_shmem(cli::Front front, int argc, char** argv) {
  if (argc > 1) {
    for (const Part& part : parts) {
      if (std::strcmp(argv[1], part.name) == 0) return part.run(front, argc - 1, argv + 1);
    }
  }
  std::vector<std::string> words;
  if (const auto ended = parse(command_line(&words), front, argc, argv)) return *ended;
  std::vector<std::string> names;
  for (const Part& part : parts) names.emplace_back(part.name);
  cli::reject(words.empty()
                  ? "gdrkit shmem: the subcommand is missing; use info, check or bench\nTry: gdrkit shmem --help"
                  : "gdrkit shmem: unknown subcommand '" + words[0] + "'" + cli::did_you_mean(words[0], names) +
                        "\nTry: gdrkit shmem --help");
}

}  // namespace gdrkit::transfer::shmem
