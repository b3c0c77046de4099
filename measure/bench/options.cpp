// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/options.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "cli/interface/size.hpp"
#include "cli/interface/whole_file.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "measure/bench/section.hpp"

namespace gdrkit::measure::bench {
namespace {

constexpr std::size_t largest_size = std::size_t{1} << 36;
constexpr int most_rounds = 10000;

struct Texts {
  std::string sections;
  std::string sizes;
  std::string rounds;
  std::string part;
  std::string trial_of;
  std::string cpu;
};

constexpr char label_separator = ';';

[[noreturn]] void refuse(const std::string& sentence) {
  cli::reject("gdrkit bench: " + sentence + "\nTry: gdrkit bench --help");
}

std::size_t parse_size(const std::string& option, const std::string& text) {
  const auto size = cli::to_size(text);
  if (size && *size != 0 && *size <= largest_size) return *size;
  refuse(option + ": '" + text + "' is not a size from 1 to 64G; " + cli::size_grammar);
}

void take_sections(const std::string& text, BenchOptions* options) {
  for (const Section& section : all_sections()) {
    if (text.empty()) options->sections.push_back(section.name);
  }
  if (text.empty()) return;
  for (const std::string& name : cli::split(text, ',')) {
    const auto& known = all_sections();
    if (std::ranges::none_of(known, [&](const Section& section) { return section.name == name; })) {
      refuse("unknown section '" + name + "'" + "; the sections are " + section_names());
    }
    if (std::ranges::find(options->sections, name) == options->sections.end()) {
      options->sections.push_back(name);
    }
  }
}

/// The new result must not replace the old one, which --compare still needs.
void refuse_lost_files(const BenchOptions& options) {
  for (const cli::DocumentOption& document : {options.common.json, options.csv}) {
    const bool is_lost = document.is_in_file() && !options.compare_path.empty() &&
                         cli::are_one_file(document.path, options.compare_path);
    if (is_lost) refuse("--compare reads " + document.path + "; write the new result to another file");
  }
}

void take(const Texts& texts, BenchOptions* options) {
  take_sections(texts.sections, options);
  if (!texts.sizes.empty()) options->sizes = parse_sizes(texts.sizes);
  if (!texts.rounds.empty() &&
      (!base::parse_number(texts.rounds, &options->rounds) || options->rounds < 3 || options->rounds > most_rounds)) {
    refuse("--rounds: '" + texts.rounds + "' is not a whole number from 3 to 10000");
  }
  if (!texts.part.empty()) options->part = parse_part(texts.part);
  if (!texts.trial_of.empty()) options->trial_of = cli::split(texts.trial_of, label_separator);
  if (!texts.cpu.empty() && !base::parse_number(texts.cpu, &options->cpu))
    refuse("--cpu: '" + texts.cpu + "' is not a number; use the number of a CPU");
  options->place = cli::choose_one_place(options->numa);
  if (!options->with_path.empty() && options->compare_path.empty()) {
    refuse("--with NEW.json requires --compare OLD.json");
  }
  if (options->is_forced && options->compare_path.empty()) refuse("--force requires --compare OLD.json");
  if (!options->with_path.empty() && (options->common.json.is_given || options->csv.is_given)) {
    refuse("--with compares two files without measuring; omit --json and --csv");
  }
  refuse_lost_files(*options);
}

cli::CommandLine command_line(BenchOptions* options, Texts* texts) {
  cli::CommandLine line;
  line.name = "bench";
  line.summary =
      "Measures copies to and from device memory through the mapping, of every size, next to raw loops and the "
      "driver's copies, and the cost of open, pin and map: with one thread, with several, and while the GPU or its bus "
      "is busy.";
  line.example =
      "gdrkit bench                                  # everything, about a minute\n"
      "  gdrkit bench --quick                          # fewer sizes and rounds, a few seconds\n"
      "  gdrkit bench --only copies --sizes 8,4096,1M  # a few sizes\n"
      "  gdrkit bench --json old.json --csv old.csv    # keep the results\n"
      "  gdrkit bench --compare old.json               # measure again; exit code 1 if something is slower\n"
      "  gdrkit bench --compare old.json --with new.json";
  line.options = {
      {'\0', "quick", "", &options->is_quick, "fewer sizes and rounds", false},
      {'\0', "sections", "LIST", &texts->sections, "only these sections, separated by commas: " + section_names(),
       false},
      {'\0', "only", "LIST", &texts->sections, "the same as --sections", false},
      {'\0', "sizes", "LIST", &texts->sizes, "only these sizes, separated by commas: 8,4096,64K,1M", false},
      {'\0', "rounds", "N", &texts->rounds, "interleaved rounds for each size", false},
      {'\0', "csv", "[FILE]", &options->csv, "write all values as CSV to FILE, or to standard output", false},
      {'\0', "compare", "OLD.json", &options->compare_path,
       "compare with an earlier result (exit code 1: slower, 2: no verdict)", false},
      {'\0', "with", "NEW.json", &options->with_path, "compare this result with OLD.json without measuring", false},
      {'\0', "force", "", &options->is_forced, "compare results of different machines or backends", false},
  };
  const auto add_hidden = [&](const char* name, const char* value, std::string* target, const char* help) {
    line.options.push_back({'\0', name, value, target, help});
    line.options.back().is_hidden = true;
  };
  add_hidden("part", "NUMBER/PROCESSES", &texts->part, "this process's part of a run");
  add_hidden("trial-of", "LABELS", &texts->trial_of, "cells to measure again, separated by semicolons");
  add_hidden("cpu", "CPU", &texts->cpu, "measure on this CPU, if possible");
  cli::add_common_options(&line, &options->common);
  cli::add_place_options(&line, &options->numa);
  return line;
}

}  // namespace

Effort BenchOptions::effort() const {
  Effort effort = is_quick ? quick_effort() : Effort();
  if (rounds > 0) {
    // The time grows with the number of rounds.
    effort.budget_ns *= std::max(1.0, static_cast<double>(rounds) / effort.rounds);
    effort.rounds = rounds;
  }
  return effort;
}

std::vector<std::string> BenchOptions::arguments_for(int on_cpu, const std::vector<std::string>& more) const {
  std::vector<std::string> words = {
      "bench", "--quiet", "--device", std::to_string(common.device), "--only", cli::joined(sections, ",")};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  if (is_quick) words.emplace_back("--quick");
  add("--sizes", cli::joined(sizes, ",", [](std::size_t size) { return std::to_string(size); }));
  if (rounds > 0) add("--rounds", std::to_string(rounds));
  add("--backend", common.backend);
  add("--copy-kernel", common.copy_kernel);
  if (numa.no_bind) words.emplace_back("--no-bind");
  if (!numa.no_bind) add("--numa", numa.numa);
  if (on_cpu >= 0) add("--cpu", std::to_string(on_cpu));
  words.insert(words.end(), more.begin(), more.end());
  words.emplace_back("--json");
  return words;
}

ProcessPart parse_part(const std::string& text) {
  const std::vector<std::string> numbers = cli::split(text, '/');
  ProcessPart part;
  const bool is_part =
      numbers.size() == 2 && base::parse_number(numbers[0], &part.number) && base::parse_number(numbers[1], &part.of);
  if (is_part && part.number >= 0 && part.number < part.of && part.of <= usual_processes) return part;
  refuse("--part: '" + text + "' is not NUMBER/PROCESSES; use for example 0/3");
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : cli::split(text, ',')) sizes.push_back(parse_size("--sizes", part));
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::optional<cli::ExitCode> parse_bench_options(cli::Front front, int argc, char** argv, BenchOptions* options) {
  Texts texts;
  if (const auto ended = cli::parse(command_line(options, &texts), front, argc, argv)) return ended;
  take(texts, options);
  return std::nullopt;
}

}  // namespace gdrkit::measure::bench
