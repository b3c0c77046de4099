// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// run: starts the PEs of a job on this machine.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/number.hpp"
#include "cli/interface/command_line.hpp"
#include "platform/facts/nvidia.hpp"
#include "transfer/run/job.hpp"

namespace gdrkit::transfer::run {
namespace run_tool {
namespace {

// Exit codes that shells use for programs they cannot start.
constexpr int cannot_start = 126;
constexpr int not_found = 127;
constexpr int most_pes = 4096;

struct Options {
  int n_pes = -1;  // not given
  bool is_emulated = false;
  bool has_prefixes = false;
  bool stays_unbound = false;
  std::string time_limit;
  std::string grace = "5";
};

std::chrono::milliseconds to_time(const char* option, const std::string& text) {
  double seconds = 0;
  if (!base::parse_number(text, &seconds) || !std::isfinite(seconds) || seconds < 0 || seconds > 1e9) {
    cli::reject(
        cli::format("gdrkit run: invalid %s '%s': use 0 to 1000000000 seconds", option, cli::printable(text).c_str()));
  }
  return std::chrono::milliseconds(static_cast<long long>(std::ceil(seconds * 1000)));
}

/// 0, or the errno with which exec would fail. access() accepts directories, which exec rejects.
int cannot_exec(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

/// Searches once, so that the error for an unknown name is printed once.
std::string find_program(const std::string& name, int* error) {
  *error = ENOENT;
  if (name.find('/') != std::string::npos) {
    *error = cannot_exec(name);
    return name;
  }
  if (name.empty()) return name;
  const char* const path = std::getenv("PATH");
  const std::string directories = path == nullptr ? "/bin:/usr/bin" : path;
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const std::string directory = directories.substr(begin, end - begin);
    const std::string file = (directory.empty() ? "." : directory) + "/" + name;
    const int refusal = cannot_exec(file);
    if (refusal == 0) {
      *error = 0;
      return file;
    }
    if (refusal == EACCES) *error = EACCES;
    begin = end + 1;
  }
  return name;
}

bool has_gpu() {
  const auto gpus = platform::list_nvidia_gpus("/sys");
  return gpus && !gpus->empty();
}

cli::ExitCode run(const Options& options, std::vector<std::string> program) {
  JobPlan plan;
  plan.n_pes = options.n_pes;
  plan.has_prefixes = options.has_prefixes;
  plan.grace = to_time("--grace", options.grace);
  if (!options.time_limit.empty()) plan.time_limit = to_time("--time-limit", options.time_limit);
  if (!options.time_limit.empty() && plan.time_limit == std::chrono::milliseconds(0)) {
    cli::reject("gdrkit run: --time-limit must not be 0; omit --time-limit to run without a limit");
  }
  int error = 0;
  plan.file = find_program(program.front(), &error);
  if (error != 0) {
    std::fprintf(stderr, "gdrkit run: cannot start %s: %s\n", cli::printable(program.front()).c_str(),
                 std::strerror(error));
    return static_cast<cli::ExitCode>(error == ENOENT ? not_found : cannot_start);
  }
  plan.words = std::move(program);
  if (!options.stays_unbound && !options.is_emulated && has_gpu()) {
    // GDRKIT_SHMEM_LOCAL_INDEX determines the place.
    plan.file = "/proc/self/exe";
    const char* const before[] = {"gdrkit", "bind", "--or-unbound", "--wrap", "--"};
    plan.words.insert(plan.words.begin(), std::begin(before), std::end(before));
  }
  RankEnvironment environment(plan.n_pes, options.is_emulated);
  if (!environment.note().empty()) std::fprintf(stderr, "gdrkit run: note: %s\n", environment.note().c_str());
  Job job(std::move(plan), environment);
  return static_cast<cli::ExitCode>(job.run());
}

}  // namespace
}  // namespace run_tool

cli::ExitCode run_run(cli::Front front, int argc, char** argv) {
  // Arguments after -- belong to the program, even if they look like our options.
  int own = 0;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  std::vector<std::string> program(argv + std::min(own + 1, argc), argv + argc);
  run_tool::Options options;
  std::vector<std::string> words;
  cli::CommandLine line;
  line.name = "run";
  line.uses_device = false;  // it starts programs; its own --emulated gives each PE a device
  line.summary =
      "Starts N processes (PEs) of the program that follows -- on this machine, each near its GPU, and ends all "
      "of them when one fails.";
  line.example =
      "gdrkit run -n 2 -- ./ring\n  gdrkit run -n 4 --emulated --prefix -- ./ring\n  gdrkit run -n 8 "
      "--time-limit 60 -- python train.py";
  line.exit_codes =
      "0 all PEs exited with 0, else the exit code of the first PE that failed (128 + N: signal N killed it); 1 cannot "
      "write the output of the PEs, 2 wrong usage, 124 time limit exceeded, 126 cannot start the program, 127 program "
      "not found";
  line.options = {
      {'n', "number", "N", &options.n_pes, "number of PEs", false, false},
      {'\0', "emulated", "", &options.is_emulated, "use emulated devices instead of GPUs, one per PE", false},
      {'\0', "prefix", "", &options.has_prefixes, "print whole lines with the PE as prefix: [3] text", false},
      {'\0', "time-limit", "S", &options.time_limit, "end all PEs after this many seconds", false},
      {'\0', "no-bind", "", &options.stays_unbound, "leave the PEs on any CPU (default: as gdrkit bind)", false},
      {'\0', "grace", "S", &options.grace, "seconds between the request to end and the kill", false},
  };
  line.operands = {&words, "PROGRAM ARGUMENTS", "after --: the program to start"};
  if (const auto ended = parse(line, front, own, argv)) return *ended;
  if (!words.empty())
    cli::reject(cli::format("gdrkit run: unexpected '%s' before --; write -- before the program: -- %s",
                            words[0].c_str(), words[0].c_str()));
  if (program.empty())
    cli::reject("gdrkit run: the program is missing; write it after --, for example: gdrkit run -n 2 -- ./app");
  if (options.n_pes < 1 || options.n_pes > run_tool::most_pes)
    cli::reject(
        cli::format("gdrkit run: the number of PEs is missing or out of range; use -n with 1 to %d, for example: "
                    "gdrkit run -n 2 -- ./app",
                    run_tool::most_pes));
  return run_tool::run(options, std::move(program));
}

}  // namespace gdrkit::transfer::run
