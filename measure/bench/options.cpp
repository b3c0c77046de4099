// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/options.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "cli/common/whole_file.hpp"
#include "measure/bench/section.hpp"

namespace gdrkit::tools {
namespace {

constexpr std::size_t largest_size = std::size_t{1} << 36;
constexpr int most_rounds = 10000;
constexpr double most_percent = 1000;

struct Texts {
  std::string sections;
  std::string sizes;
  std::string rounds;
  std::string slowdown;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Failure(ExitCode::usage, "gdrkit bench: " + sentence + "\nTry: gdrkit bench --help");
}

template <class Number>
bool to_number(const std::string& text, Number* number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && stop == text.data() + text.size();
}

std::size_t parse_size(const std::string& text) {
  std::string digits = text;
  std::size_t unit = 1;
  if (!digits.empty()) {
    const char* const letters = "KMG";
    const char* const found = std::strchr(letters, digits.back());
    if (found != nullptr && *found != '\0') {
      unit = std::size_t{1} << (10 * (found - letters + 1));
      digits.pop_back();
    }
  }
  std::size_t count = 0;
  if (!to_number(digits, &count) || count == 0 || count > largest_size / unit) {
    refuse("'" + text + "' is not a size from 1 to 64G; write bytes, or K, M or G, as in 8,4096,64K,1M");
  }
  return count * unit;
}

void take_sections(const std::string& text, BenchOptions* options) {
  for (const Section& section : all_sections()) {
    if (text.empty()) options->sections.push_back(section.name);
  }
  if (text.empty()) return;
  options->has_chosen_sections = true;
  for (const std::string& name : split(text, ',')) {
    const auto& known = all_sections();
    if (std::none_of(known.begin(), known.end(), [&](const Section& section) { return section.name == name; })) {
      refuse("there is no section '" + name + "'; there are: " + section_names());
    }
    if (std::find(options->sections.begin(), options->sections.end(), name) == options->sections.end()) {
      options->sections.push_back(name);
    }
  }
}

/// Two files under one name would cost the one that was written first, or the old result that a slower one replaces.
void refuse_lost_files(const BenchOptions& options) {
  const std::string json = options.is_json_on_stdout() ? "" : options.json_path;
  const auto are_one = [](const std::string& path, const std::string& other) {
    return !path.empty() && !other.empty() && are_one_file(path, other);
  };
  if (options.csv_path == "-") refuse("--csv takes the name of a file; standard output is /dev/stdout");
  if (are_one(json, options.csv_path))
    refuse("--json and --csv are one file, " + json + ": one would replace the other");
  for (const std::string& path : {json, options.csv_path}) {
    if (!are_one(path, options.compare_path)) continue;
    refuse(path + " is what --compare reads, and would be replaced; write the new result to another file");
  }
}

void take(const Texts& texts, BenchOptions* options) {
  take_sections(texts.sections, options);
  if (!texts.sizes.empty()) options->sizes = parse_sizes(texts.sizes);
  if (!texts.slowdown.empty()) options->slowdown = parse_slowdown(texts.slowdown);
  if (!texts.rounds.empty() &&
      (!to_number(texts.rounds, &options->rounds) || options->rounds < 3 || options->rounds > most_rounds)) {
    refuse("'" + texts.rounds + "' is no number of rounds from 3 to 10000");
  }
  options->common.json = options->is_json_on_stdout();
  options->place = choose_one_place(options->numa);
  if (!options->with_path.empty() && options->compare_path.empty()) {
    refuse("--with NEW.json needs --compare OLD.json to compare it with");
  }
  if (options->is_forced && options->compare_path.empty()) refuse("--force belongs to --compare");
  if (!options->with_path.empty() && (!options->json_path.empty() || !options->csv_path.empty())) {
    refuse("--with compares two files and measures nothing, so there is nothing for --json or --csv");
  }
  refuse_lost_files(*options);
}

CommandLine command_line(BenchOptions* options, Texts* texts) {
  static const std::string sections_help = "only these, with commas: " + section_names();
  CommandLine line;
  line.name = "bench";
  line.summary =
      "Copies to and from device memory of every size through the mapping, beside raw loops and the driver's copies,\n"
      "and what opening, pinning and mapping cost; alone, from several threads, and beside other work.";
  line.example =
      "gdrkit bench                                  # everything, about a minute\n"
      "  gdrkit bench --quick                          # the outlines, in seconds\n"
      "  gdrkit bench --only copies --sizes 8,4096,1M  # a few sizes\n"
      "  gdrkit bench --json old.json --csv old.csv    # keep the results\n"
      "  gdrkit bench --compare old.json               # measure again; exit code 1 if something is slower\n"
      "  gdrkit bench --compare old.json --with new.json";
  line.options = {
      {'\0', "quick", "", &options->is_quick, "fewer sizes and rounds", false},
      {'\0', "sections", "LIST", &texts->sections, sections_help.c_str(), false},
      {'\0', "only", "LIST", &texts->sections, "the same as --sections", false},
      {'\0', "sizes", "LIST", &texts->sizes, "only these sizes, with commas, as in 8,4096,64K,1M", false},
      {'\0', "rounds", "N", &texts->rounds, "interleaved rounds for each size", false},
      {'\0', "csv", "FILE", &options->csv_path, "also write every figure as a table of comma-separated values", false},
      {'\0', "compare", "OLD.json", &options->compare_path,
       "compare with an earlier result; exit code 1: something is slower, 2: no verdict, as small or large copies "
       "cannot be judged",
       false},
      {'\0', "with", "NEW.json", &options->with_path, "compare this result with OLD.json instead of measuring", false},
      {'\0', "force", "", &options->is_forced, "compare results of different machines or backends", false},
  };
  add_common_options(&line, &options->common);
  add_place_options(&line, &options->numa);
  for (Option& option : line.options) {
    if (std::strcmp(option.long_name, "json") != 0) continue;
    option = {'\0',
              "json",
              "[FILE]",
              &options->json_path,
              "write one JSON document (docs/result-schema.md) to FILE, or to standard output instead of text",
              false};
  }
  return line;
}

/// `--json` without a file means standard output; the parser wants a value in every case.
std::vector<std::string> with_json_value(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::size_t at = 1; at < words.size(); ++at) {
    const bool has_value =
        at + 1 < words.size() && (words[at + 1].empty() || words[at + 1][0] != '-' || words[at + 1] == "-");
    if (words[at] == "--json" && !has_value) words[at] = "--json=-";
  }
  return words;
}

/// Takes --inject-slowdown out of the words: it is for trying the comparison, not for users, and has no line in the
/// help.
void take_slowdown(std::vector<std::string>* words, std::string* slowdown) {
  for (std::size_t at = 1; at < words->size(); ++at) {
    if ((*words)[at] != "--inject-slowdown") continue;
    if (at + 1 == words->size()) refuse("--inject-slowdown needs SIZE:PERCENT[:DIRECTION]");
    *slowdown = (*words)[at + 1];
    words->erase(words->begin() + static_cast<std::ptrdiff_t>(at),
                 words->begin() + static_cast<std::ptrdiff_t>(at) + 2);
    return;
  }
}

}  // namespace

Effort BenchOptions::effort() const {
  Effort effort = is_quick ? quick_effort() : Effort();
  if (rounds > 0) {
    // More rounds get more time.
    effort.budget_ns *= std::max(1.0, static_cast<double>(rounds) / effort.rounds);
    effort.rounds = rounds;
  }
  return effort;
}

std::vector<std::size_t> parse_sizes(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const std::string& part : split(text, ',')) sizes.push_back(parse_size(part));
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

SlowdownRequest parse_slowdown(const std::string& text) {
  const std::vector<std::string> parts = split(text, ':');
  SlowdownRequest slowdown;
  if (parts.size() < 2 || parts.size() > 3)
    refuse("--inject-slowdown takes SIZE:PERCENT[:DIRECTION], not '" + text + "'");
  slowdown.size_bytes = parse_size(parts[0]);
  if (!to_number(parts[1], &slowdown.percent) || slowdown.percent <= 0 || slowdown.percent > most_percent) {
    refuse("'" + parts[1] + "' is not a percentage from 0 to 1000 for --inject-slowdown");
  }
  if (parts.size() == 3) {
    if (parts[2] != "to_device" && parts[2] != "from_device") {
      refuse("'" + parts[2] + "' is not a direction for --inject-slowdown: to_device or from_device");
    }
    slowdown.direction = parts[2] == "to_device" ? Direction::to_device : Direction::from_device;
  }
  return slowdown;
}

std::optional<ExitCode> parse_bench_options(int argc, char** argv, BenchOptions* options) {
  Texts texts;
  std::vector<std::string> words = with_json_value(argc, argv);
  take_slowdown(&words, &texts.slowdown);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  const CommandLine line = command_line(options, &texts);
  if (const auto ended = parse_gdrkit(line, static_cast<int>(pointers.size()), pointers.data())) return ended;
  take(texts, options);
  return std::nullopt;
}

}  // namespace gdrkit::tools
