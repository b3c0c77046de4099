// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// doctor: looks at the machine, or at a recording of one, and says what is wrong with its evidence and the remedy.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/common/command_line.hpp"
#include "diag/doctor/difference.hpp"
#include "diag/doctor/doctor_text.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/doctor/fix/script.hpp"
#include "diag/doctor/verdict/verdicts.hpp"
#include "diag/doctor/watch/watch.hpp"

namespace gdrkit::tools {
namespace doctor {
namespace {

struct Options {
  Selection selection;
  std::vector<std::string> words;
  std::string root = "/";
  std::string level = "quick";
  std::string watch_seconds;
  int watch_count = 0;
  bool is_json = false;
  bool is_prom = false;
  bool is_short = false;
  bool is_strict = false;
  bool is_fix = false;
};

CommandLine command_line(Options* options) {
  CommandLine line;
  line.name = "doctor";
  line.summary =
      "What is wrong with this machine for GPUDirect, with the evidence and the remedy. Changes nothing, and reads "
      "files only unless --level probe is given.";
  line.exit_codes =
      "0 no failure, 1 failures (--watch: errors grew), 2 wrong usage, 3 required facts could not be read, 4 --root is "
      "no recording; fix and --prom: 0 printed";
  line.example =
      "gdrkit doctor\n  gdrkit doctor --level probe\n  gdrkit doctor --only pcie,acs.redirect --json\n  gdrkit doctor "
      "explain acs.redirect\n  gdrkit doctor fix > remedies.sh\n  gdrkit doctor --watch 5\n  gdrkit doctor --root "
      "RECORDING --strict";
  line.options = {
      {'\0', "only", "LIST", &options->selection.only,
       "these checks: IDs, groups or starts of IDs (acs*), with commas between", false},
      {'\0', "skip", "LIST", &options->selection.skip, "not these checks", false},
      {'\0', "level", "LEVEL", &options->level,
       "quick (reads files) or probe (also opens devices and asks NVIDIA's libraries)", false},
      {'\0', "strict", "", &options->is_strict, "warnings count as failures, everything unknown as a required fact",
       false},
      {'\0', "root", "FOLDER|ARCHIVE", &options->root, "read a recording of a machine instead of this one", false},
      {'\0', "short", "", &options->is_short, "failures and warnings alone, one line each", false},
      {'\0', "json", "", &options->is_json, "print one JSON document (diag/doctor/README.md) and no text", false},
      {'\0', "prom", "", &options->is_prom, "print metrics for the textfile collector of Prometheus' node_exporter",
       false},
      {'\0', "watch", "SECONDS", &options->watch_seconds,
       "look at the counters of adapters and links again and again, tell what grows (--json: one object a line)", false,
       false},
      {'\0', "count", "N", &options->watch_count, "with --watch: end after N looks; 0: when interrupted", false},
  };
  line.operands = {
      &options->words, "list | explain ID | fix [ID...] | diff A B",
      "list: name all checks; explain ID: what one reads, why, and the remedy; fix: print a shell script of "
      "the remedies, of all findings or of the checks named (nothing is run); diff: what differs between two "
      "recordings"};
  return line;
}

/// Throws Failure(usage) for what cannot go together.
void refuse_contradictions(const Options& options) {
  const auto& levels = level_names();
  if (std::find(levels.begin(), levels.end(), options.level) == levels.end())
    throw Failure(ExitCode::usage, format("--level %s: it is quick, probe or cuda", options.level.c_str()));
  if (options.is_fix && (options.is_json || options.is_prom || options.is_short))
    throw Failure(ExitCode::usage,
                  "fix prints a shell script and nothing else: 'gdrkit doctor --json' has the remedies");
  if (options.is_json + options.is_prom + options.is_short > 1)
    throw Failure(ExitCode::usage, "of --json, --prom and --short only one can be had");
  if (options.watch_seconds.empty()) {
    if (options.watch_count != 0) throw Failure(ExitCode::usage, "--count needs --watch SECONDS");
    return;
  }
  const Selection& selection = options.selection;
  if (options.is_fix || options.is_prom || options.is_short || options.is_strict || options.level != "quick" ||
      !selection.only.empty() || !selection.skip.empty())
    throw Failure(
        ExitCode::usage,
        "--watch looks at counters and runs no check: of the other options it takes --count, --json and --root");
  if (options.watch_count < 0) throw Failure(ExitCode::usage, "--count: give the number of looks");
}

ExitCode run(const Options& options, Level level) {
  if (!options.watch_seconds.empty()) {
    const double seconds = parse_interval(options.watch_seconds);
    return watch(open_view(options.root), {options.root, seconds, options.watch_count, options.is_json});
  }
  const auto checks = select(options.selection);
  const MachineView view = open_view(options.root);
  refuse_without_probe(options.selection, view);
  const Machine machine(view, level);
  const Examination examination = examine(machine, options.root, checks, level, options.is_strict);
  if (options.is_fix) {
    std::fputs(write_script(examination, machine).c_str(), stdout);
    return ExitCode::ok;
  }
  if (options.is_prom) {
    print_examination_prom(examination, machine);
    return ExitCode::ok;
  }
  // What --only and --skip leave out may be what rules a pair out: then there is no verdict.
  const bool has_all = options.selection.only.empty() && options.selection.skip.empty();
  const auto verdicts = has_all ? std::optional(give_verdicts(examination, machine)) : std::nullopt;
  const Verdicts* given = verdicts.has_value() ? &*verdicts : nullptr;
  const Terminal terminal = Terminal::from_environment(isatty(STDOUT_FILENO) != 0);
  if (options.is_json) {
    print_examination_json(examination, given);
  } else if (options.is_short) {
    print_examination_short(examination, machine, given, terminal);
  } else {
    print_examination_text(examination, machine, given, terminal);
  }
  return examination.code;
}

/// Counters, and what needs more than files, are compared as far as both sides have them.
ExitCode run_diff(const Options& options) {
  if (options.words.size() != 3 || options.is_prom || options.is_short || options.root != "/" ||
      !options.watch_seconds.empty())
    throw Failure(ExitCode::usage,
                  "diff A B: two recordings, or / for this machine; it takes --only, --skip, --level and --json");
  refuse_contradictions(options);
  Selection selection = options.selection;
  selection.level = level_named(options.level);
  const Level level = selection.level;
  const auto checks = select(selection);
  const auto look = [&](const std::string& root) {
    const MachineView view = open_view(root);
    const Machine machine(view, level);
    return examine(machine, root, checks, level, false);
  };
  const Examination left = look(options.words[1]);
  const Examination right = look(options.words[2]);
  return print_difference(left, right, options.is_json);
}

}  // namespace
}  // namespace doctor

ExitCode run_doctor(Front front, int argc, char** argv) {
  doctor::Options options;
  if (const auto ended = parse(doctor::command_line(&options), front, argc, argv)) return *ended;
  const auto& words = options.words;
  if (words.size() == 1 && words[0] == "list") {
    doctor::print_list();
    return ExitCode::ok;
  }
  if (words.size() == 2 && words[0] == "explain") {
    doctor::print_explanation(words[1]);
    return ExitCode::ok;
  }
  if (!words.empty() && words[0] == "diff") return doctor::run_diff(options);
  options.is_fix = !words.empty() && words[0] == "fix";
  if (!words.empty() && !options.is_fix) {
    throw Failure(ExitCode::usage,
                  format("'%s' is neither 'list' nor 'explain ID' nor 'fix [ID...]'", words[0].c_str()));
  }
  if (options.is_fix) options.selection.only.insert(options.selection.only.end(), words.begin() + 1, words.end());
  doctor::refuse_contradictions(options);
  options.selection.level = level_named(options.level);
  return doctor::run(options, options.selection.level);
}

}  // namespace gdrkit::tools
