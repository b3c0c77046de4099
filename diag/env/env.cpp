// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// env: the minimal settings that libraries need on this machine, and the faults of the current ones.
#include <algorithm>

#include "cli/interface/common_options.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/env/formats.hpp"
#include "diag/machine/topology_facts.hpp"

namespace gdrkit::diag::env {
namespace {

std::vector<CommLibrary> libraries_of(const std::vector<std::string>& words) {
  const std::string names = cli::joined(all_libraries, ", ", [](CommLibrary library) { return name_of(library); });
  if (words.empty()) cli::reject("gdrkit env: the library is missing; use one or more of " + names);
  std::vector<CommLibrary> libraries;
  for (const std::string& word : words) {
    const auto is_it = [&](CommLibrary library) { return word == name_of(library); };
    const auto* const found = std::ranges::find_if(all_libraries, is_it);
    if (found == std::end(all_libraries))
      cli::reject("gdrkit env: unknown library '" + word + "'; use one or more of " + names);
    if (std::ranges::find(libraries, *found) == libraries.end()) libraries.push_back(*found);
  }
  return libraries;
}

/// Findings of the doctor's group environment that are not ok.
std::vector<Judged> judge(const Machine& machine, const std::string& root, Level level) {
  doctor::Selection selection;
  selection.only = {"environment"};
  selection.level = level;
  std::vector<Judged> judged;
  for (const auto& result : doctor::examine(machine, root, doctor::select(selection), level, false).results) {
    for (const auto& finding : result.findings) {
      if (finding.state != doctor::State::ok && finding.state != doctor::State::skip)
        judged.push_back({result.check->id, finding});
    }
  }
  return judged;
}

}  // namespace

cli::ExitCode run_env(cli::Front front, int argc, char** argv) {
  std::vector<std::string> words;
  std::string root = "/";
  std::string level = "quick";
  std::string format_name = "sh";
  UserOptions user_options;
  std::vector<std::string> names = format_names();
  names.emplace_back("json");
  std::vector<std::string> fabrics = {"rail", "ecmp"};
  cli::DocumentOption json;
  bool reserves = false;
  cli::CommandLine line;
  line.name = "env";
  line.uses_device = false;
  line.summary =
      "Prints the minimal settings that libraries need on this machine, with reasons, and the faults of the current "
      "settings.";
  line.exit_codes = "0 ok, 2 wrong usage, 4 --root is not a recording";
  line.example =
      "gdrkit env nccl ucx\n  gdrkit env ucx --format slurm --reserve-irq\n  gdrkit env openmpi --format ompi\n  "
      "gdrkit env nccl --root RECORDING --json";
  line.options = {
      {'\0', "format", "NAME", cli::Choice{names, &format_name, ""},
       "output: sh, dotenv, json, a configuration file or launcher", false},
      {'\0', "fabric", "KIND", cli::Choice{fabrics, &user_options.fabric, ""},
       "rail: one switch per adapter; ecmp: equal-cost paths", false, false},
      {'\0', "assert", "", &user_options.is_strict, "prefer an error to a slower path", false},
      {'\0', "reserve-irq", "", &reserves, "keep the first core of each rank free for interrupts", false},
      {'\0', "root", "DIR|ARCHIVE|-", &root, "read this recording (- for stdin) instead of this machine", false},
      {'\0', "level", "LEVEL", cli::Choice{level_names(), &level, ""},
       "quick (files), probe (+ NVML, libibverbs) or cuda (+ CUDA)", false},
      cli::json_option(&json, "diag/env/README.md"),
  };
  line.operands = {&words,
                   "LIBRARY",
                   "one or more of nccl, ucx, nvshmem, openmpi, mvapich2",
                   {"nccl", "ucx", "nvshmem", "openmpi", "mvapich2"}};
  if (const auto ended = cli::parse(line, front, argc, argv)) return *ended;
  const auto requested_libraries = libraries_of(words);
  const MachineView view = open_view(root);
  const Level depth = level_named(level);
  const Machine machine(view, depth);
  const Environment environment(view);
  const Libraries libraries(view);
  const RankLayout layout = lay_out(view, links_of(machine.probe.nvml), recorded_cpus(view), reserves);
  const Facts facts = gather(machine, environment, libraries, layout, user_options);
  const Document document{root, propose(requested_libraries, facts), judge(machine, root, depth)};
  if (format_name == "json" && !json.is_given) json = {true, ""};
  if (json.is_given) write_env_json(json, document);
  if (!json.is_on_stdout() && format_name != "json") print_as(format_name, document);
  return cli::ExitCode::ok;
}

}  // namespace gdrkit::diag::env
