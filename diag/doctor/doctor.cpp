// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// doctor: examines this machine, or a recording of one, and reports faults with evidence and remedy.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "cli/interface/common_options.hpp"
#include "diag/doctor/doctor_text.hpp"
#include "diag/doctor/examination.hpp"
#include "diag/doctor/verdict/verdicts.hpp"
#include "diag/doctor/watch/watch.hpp"

namespace gdrkit::diag::doctor {
namespace {

constexpr int unset = -1;

struct Options {
  Selection selection;
  std::vector<std::string> words;
  std::string root = "/";
  std::string level = "quick";
  std::string watch_seconds;
  int watch_count = 0;
  int expected_gpus = unset;
  bool is_verbose = false;
  cli::DocumentOption json;
  bool is_prom = false;
  bool is_short = false;
  bool is_strict = false;
  bool is_fix = false;
};

cli::CommandLine command_line(Options* options) {
  cli::CommandLine line;
  line.name = "doctor";
  line.uses_device = false;
  line.summary =
      "Reports faults that affect GPUDirect on this machine, with evidence and remedy. Changes nothing and reads only "
      "files, unless --level probe or cuda is given.";
  line.exit_codes =
      "0 no failure, 1 failures (--watch: errors grew), 2 wrong usage, 3 required facts could not be read, 4 --root is "
      "not a recording; fix and --prom: 0 if printed";
  line.example =
      "gdrkit doctor\n  gdrkit doctor --level probe\n  gdrkit doctor --only pcie,acs.redirect --json\n  gdrkit doctor "
      "explain acs.redirect\n  gdrkit doctor fix > remedies.sh\n  gdrkit doctor --watch 5\n  gdrkit doctor --root "
      "RECORDING --strict";
  line.options = {
      {'\0', "only", "LIST", &options->selection.only, "comma-separated IDs, groups or ID prefixes (acs*) to run",
       false},
      {'\0', "skip", "LIST", &options->selection.skip, "do not run these checks", false},
      {'\0', "level", "LEVEL", &options->level, "quick (files), probe (+ devices, NVML, libibverbs) or cuda (+ CUDA)",
       false},
      {'\0', "strict", "", &options->is_strict, "fail on warnings too, and on every unknown fact", false},
      {'\0', "expect-gpus", "N", &options->expected_gpus, "fail if the number of GPUs is not N (gpu.count)", false,
       false},
      {'\0', "root", "DIR|ARCHIVE|-", &options->root, "read this recording (- for stdin) instead of this machine",
       false},
      {'\0', "short", "", &options->is_short, "print only failures and warnings, one line each", false},
      {'\0', "verbose", "", &options->is_verbose, "also print checks that are ok or do not apply", false},
      cli::json_option(&options->json, "diag/doctor/README.md"),
      {'\0', "prom", "", &options->is_prom, "print metrics for node_exporter's textfile collector", false},
      {'\0', "watch", "SECONDS", &options->watch_seconds, "poll adapter and link counters, print those that grow",
       false, false},
      {'\0', "count", "N", &options->watch_count, "stop --watch after N polls (0: until interrupted)", false},
  };
  line.operands = {&options->words,
                   "list | explain ID | fix [ID...] | diff A B",
                   "list: list all checks; explain ID: what it reads, why it matters, the remedy; fix: print the "
                   "remedies as a shell script without running it; diff: compare two recordings",
                   {"list", "explain", "fix", "diff"}};
  return line;
}

/// Throws Failure(usage) for options that conflict.
void refuse_contradictions(const Options& options) {
  const auto& levels = level_names();
  if (std::ranges::find(levels, options.level) == levels.end())
    cli::reject(cli::format("invalid --level %s: use quick, probe or cuda", options.level.c_str()));
  const int formats = int{options.json.is_on_stdout()} + options.is_prom + options.is_short + options.is_verbose;
  if (options.is_fix && (formats > 0 || options.json.is_given))
    cli::reject(
        "cannot combine 'fix' with --json, --prom, --short or --verbose: 'fix' prints a shell "
        "script; for the remedies as JSON, use 'gdrkit doctor --json'");
  if (formats > 1) cli::reject("cannot combine --json, --prom, --short and --verbose; choose one");
  if (options.watch_seconds.empty()) {
    if (options.watch_count != 0) cli::reject("cannot use --count without --watch SECONDS");
    return;
  }
  const Selection& selection = options.selection;
  if (options.is_fix || options.is_prom || options.is_short || options.is_verbose || options.is_strict ||
      options.expected_gpus != unset || options.level != "quick" || !selection.only.empty() || !selection.skip.empty())
    cli::reject("cannot combine --watch with options other than --count, --json and --root");
  if (options.json.is_in_file())
    cli::reject("cannot combine --watch with --json=FILE; use --json and redirect standard output");
  if (options.watch_count < 0)
    cli::reject(cli::format("invalid --count %d: give the number of polls, or 0 for no limit", options.watch_count));
}

cli::ExitCode run(const Options& options, Level level) {
  if (!options.watch_seconds.empty()) {
    const double seconds = parse_interval(options.watch_seconds);
    return watch(open_view(options.root), {options.root, seconds, options.watch_count, options.json.is_on_stdout()});
  }
  Selection selection = options.selection;
  if (options.expected_gpus != unset && !selection.only.empty()) selection.only.emplace_back("gpu.count");
  const auto checks = select(selection);
  const MachineView view = open_view(options.root);
  refuse_without_probe(selection, view);
  Machine machine(view, level);
  if (options.expected_gpus != unset) machine.expected_gpus = static_cast<std::size_t>(options.expected_gpus);
  const Examination examination = examine(machine, options.root, checks, level, options.is_strict);
  if (options.is_fix) {
    std::fputs(write_script(examination, machine).c_str(), stdout);
    return cli::ExitCode::ok;
  }
  if (options.is_prom) {
    if (options.json.is_given) write_examination_json(options.json, examination, nullptr);
    print_examination_prom(examination, machine);
    return cli::ExitCode::ok;
  }
  // Without a verdict: a check that --only or --skip leaves out may be the one that rules a pair out.
  const bool has_all = options.selection.only.empty() && options.selection.skip.empty();
  const auto computed = has_all ? std::optional(compute_verdicts(examination, machine)) : std::nullopt;
  const Verdicts* verdicts = computed.has_value() ? &*computed : nullptr;
  const Terminal terminal = Terminal::from_environment(isatty(STDOUT_FILENO) != 0);
  if (options.json.is_given) write_examination_json(options.json, examination, verdicts);
  if (options.json.is_on_stdout()) return examination.code;
  if (options.is_short) {
    print_examination_short(examination, machine, verdicts, terminal);
  } else {
    print_examination_text(examination, machine, verdicts, terminal, options.is_verbose);
  }
  return examination.code;
}

/// Compares counters and facts of level probe only if both sides have them.
cli::ExitCode run_diff(const Options& options) {
  if (options.words.size() != 3 || options.is_prom || options.is_short || options.is_verbose || options.root != "/" ||
      options.expected_gpus != unset || !options.watch_seconds.empty())
    cli::reject(
        "invalid arguments of 'diff': give two recordings (/ is this machine) and no options except "
        "--only, --skip, --level and --json");
  if (options.words[1] == "-" && options.words[2] == "-")
    cli::reject("cannot read two recordings from standard input (diff - -); replace one '-' with a file");
  refuse_contradictions(options);
  Selection selection = options.selection;
  selection.level = level_named(options.level);
  const Level level = selection.level;
  const auto checks = select(selection);
  const auto examine_root = [&](const std::string& root) {
    const MachineView view = open_view(root);
    const Machine machine(view, level);
    return examine(machine, root, checks, level, false);
  };
  const Examination left = examine_root(options.words[1]);
  const Examination right = examine_root(options.words[2]);
  return print_difference(left, right, options.json);
}

}  // namespace

cli::ExitCode run_doctor(cli::Front front, int argc, char** argv) {
  Options options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  const auto& words = options.words;
  if (words.size() == 1 && words[0] == "list") {
    if (options.json.is_given) write_list_json(options.json);
    if (!options.json.is_on_stdout()) print_list();
    return cli::ExitCode::ok;
  }
  if (words.size() == 2 && words[0] == "explain") {
    const Check& check = check_named(words[1]);
    if (options.json.is_given) write_explanation_json(options.json, check);
    if (!options.json.is_on_stdout()) print_explanation(check);
    return cli::ExitCode::ok;
  }
  if (!words.empty() && words[0] == "diff") return run_diff(options);
  options.is_fix = !words.empty() && words[0] == "fix";
  if (!words.empty() && !options.is_fix) {
    cli::reject(
        cli::format("invalid argument '%s': use 'list', 'explain ID', 'fix [ID...]' or 'diff A B'", words[0].c_str()));
  }
  if (options.is_fix) options.selection.only.insert(options.selection.only.end(), words.begin() + 1, words.end());
  refuse_contradictions(options);
  options.selection.level = level_named(options.level);
  return run(options, options.selection.level);
}

}  // namespace gdrkit::diag::doctor
