// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/osu/osu_options.hpp"

#include "cli/interface/size.hpp"
#include "cli/interface/suggestion.hpp"
#include "cli/interface/wrapped_text.hpp"

namespace gdrkit::transfer::osu {
namespace {

constexpr std::size_t default_largest = 4UL << 20;
constexpr std::size_t default_largest_of_all = 1UL << 20;
constexpr std::size_t most_bytes = 16UL << 30;
constexpr std::size_t large_bytes = 8192;  ///< OSU's LARGE_MESSAGE_SIZE
constexpr int most_iterations = 100'000'000;
constexpr int most_window = 65536;

[[noreturn]] void refuse(const std::string& text) { cli::reject("gdrkit osu: " + text); }

const OsuTest& find_test(const std::string& word) {
  const std::string name = word.rfind("osu_", 0) == 0 ? word.substr(4) : word;
  std::vector<std::string> names;
  for (const OsuTest& test : all_osu_tests) {
    if (name == test.name) return test;
    names.emplace_back(test.name);
  }
  refuse("unknown test '" + word + "'" + cli::did_you_mean(name, names) + "\nTry: gdrkit osu --help");
}

std::size_t size_in(const std::string& text) {
  const auto size = cli::to_size(text);
  if (!size || *size > most_bytes) refuse("-m: '" + text + "' is not a size up to 16G; " + cli::size_grammar);
  return *size;
}

/// Doubled from the smallest; if the smallest is 0, it precedes 1.
std::vector<std::size_t> sizes_in(const Options& options, const OsuTest& test) {
  std::size_t least = test.smallest_bytes;
  std::size_t most = test.is_of_all_ranks() ? default_largest_of_all : default_largest;
  if (test.loop == Loop::fetch_each || !test.has_sizes()) most = least;
  if (!options.sizes.empty()) {
    if (!test.has_sizes()) refuse(std::string("cannot use -m: ") + test.name + " transfers no data; omit -m");
    const std::size_t colon = options.sizes.find(':');
    if (colon != std::string::npos) least = size_in(options.sizes.substr(0, colon));
    most = size_in(options.sizes.substr(colon == std::string::npos ? 0 : colon + 1));
    if (least > most) refuse("-m " + options.sizes + ": the smallest size exceeds the largest; use MIN:MAX");
    if (least == 0 && test.is_one_sided()) refuse("-m 0 is out of range: one-sided tests start at size 1");
    if (least == 0 && test.is_of_all_ranks()) refuse("-m 0 is out of range: collectives start at size 1");
  }
  if (test.loop == Loop::fetch_each && (least != 8 || most != 8))
    refuse("cannot use -m: fop_latency always transfers 8 bytes; omit -m");
  std::vector<std::size_t> sizes;
  for (std::size_t size = least; size <= most; size = size == 0 ? 1 : size * 2) sizes.push_back(size);
  return sizes;
}

std::vector<int> percentiles_in(const std::string& text) {
  std::vector<int> all;
  if (text.empty()) return all;
  for (const std::string& word : cli::split(text, ',')) {
    const bool is_number =
        !word.empty() && word.size() <= 2 && word.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || word == "0" || word == "00") refuse("-z: '" + word + "' is not a percentile; use 1 to 99");
    all.push_back(std::stoi(word));
  }
  return all;
}

std::string engines_with(const OsuTest& test) {
  std::string names;
  for (const engines::MessageEngineKind& engine : engines::all_message_engines()) {
    if (engine.has(test.kind())) names += (names.empty() ? "--engine " : ", --engine ") + std::string(engine.name);
  }
  return names;
}

const engines::MessageEngineKind& engine_in(const Options& options, const OsuTest& test) {
  for (const engines::MessageEngineKind& engine : engines::all_message_engines()) {
    if (options.engine.empty() ? !engine.has(test.kind()) : options.engine != engine.name) continue;
    if (engine.has(test.kind())) return engine;
    cli::cannot_run("gdrkit osu: --engine " + options.engine + " does not support " + test.name + "; use one of " +
                    engines_with(test));
  }
  refuse(std::string("no engine of this build supports ") + test.name);
}

/// As in OSU, -d puts the buffers of a test of all ranks on the GPU. Two words set the places for a pair.
std::string places_in(const Options& options, const OsuTest& test, const engines::MessageEngineKind& engine) {
  const std::size_t count = options.words.size() - 1;
  if (count == 0) {
    if (!test.is_of_all_ranks() || options.accelerator.empty()) return engine.places;
    return options.accelerator == "managed" ? "MM" : "DD";
  }
  if (count != 2 && !(test.is_of_all_ranks() && count == 1)) {
    refuse(
        "invalid arguments; pass the test and one buffer location (D, H or M) for each rank, for example gdrkit osu "
        "latency D D");
  }
  std::string places;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string& word = options.words[i];
    if (word != "D" && word != "H" && word != "M")
      refuse("'" + word + "' is not a buffer location: use D (device), H (host) or M (managed)");
    places += word;
  }
  if (count == 1) places += places;
  if (test.is_of_all_ranks() && places[0] != places[1]) {
    refuse(cli::format(
        "cannot run %s with buffer locations %c %c: all ranks of this test must use the same location; pass "
        "one location, for example %c",
        test.name, places[0], places[1], places[0]));
  }
  return places;
}

/// Before the ranks connect: a rank with an accepted place would notice the end of the other one, and could end first.
void check_places(const Plan& plan) {
  if (plan.places.find_first_not_of(plan.engine->accepts) == std::string::npos) return;
  refuse(cli::format("--engine %s accepts only device memory; use device buffers (%s)", plan.engine->name,
                     plan.test->is_of_all_ranks() ? "D" : "D D"));
}

/// OSU's options that `gdrkit osu` rejects. tests/transfer/osu/osu_test.py lists all options.
std::vector<cli::RefusedOption> refused_options() {
  constexpr const char* of_nonblocking = "non-blocking collectives are not measured; omit it";
  return {
      {'t', "num-test-calls", of_nonblocking},
      {'a', "array-size", of_nonblocking},
      {'r', "cuda-target", of_nonblocking, "cpu"},
      {'s', "sync-option", "a flush completes one-sided operations; omit it", "flush"},
      {'w', "win-options", "the window consists of allocated memory; omit it", "create"},
      {'R', "print-rate", "mbw_mr prints the rate; omit it", "1"},
      {'p', "num-pairs", "all ranks take part, in pairs; start two ranks for each pair"},
      {'V', "vary-window", "a run has one window; run once for each -W"},
      {'G', "graph", "gdrkit report makes graphs; use --json"},
      {'P', "papi", "hardware counters are not read; use perf stat"},
      {'D', "ddt", "data are contiguous; omit it", "cont"},
      {'N', "nhbr", "neighbourhood collectives are not measured; omit it"},
      {'I', "session", "MPI_Init initializes MPI; omit it"},
      {'l', "in-place", "source and target are different buffers; omit it"},
      {'q', "partitions", "partitioned messages are not measured; omit it"},
      {'k', "root-rank", "the root is rank 0; omit it", "fixed:0"},
  };
}

void check_counts(const Options& options) {
  if (options.check_warmup > most_iterations)
    refuse(cli::format("-u %d is out of range: use 0 to 100000000", options.check_warmup));
  if (options.iterations < 0 || options.iterations > most_iterations)
    refuse(cli::format("-i %d is out of range: use 1 to 100000000", options.iterations));
  if (options.window < 1 || options.window > most_window)
    refuse(cli::format("-W %d is out of range: use 1 to 65536", options.window));
  if (options.timeout_s < 1 || options.timeout_s > 1'000'000)
    refuse(cli::format("--timeout %d is out of range: use 1 to 1000000", options.timeout_s));
}

}  // namespace

cli::CommandLine command_line(Options* options) {
  cli::CommandLine line;
  line.name = "osu";
  line.summary =
      "Runs OSU's tests of messages, puts, gets and collectives between GPUs or hosts, with their options and lines, "
      "on UCX, an MPI, NCCL or libgdrkit_shmem. Starts two ranks itself, or runs under gdrkit run, mpirun, srun and "
      "torchrun.";
  line.example =
      "gdrkit osu latency D D\n  gdrkit osu bw D D --engine shmem -m 1:64M\n  gdrkit run -n 4 -- gdrkit osu "
      "allreduce -f\n  mpirun -n 2 gdrkit osu latency D D --engine mpi";
  std::vector<std::string> engines;
  for (const engines::MessageEngineKind& engine : engines::all_message_engines()) engines.emplace_back(engine.name);
  line.options = {
      {'m', "message-size", "[MIN:]MAX", &options->sizes, "sizes, doubled from MIN to MAX (default: 1:4M)", false,
       false},
      {'i', "iterations", "N", &options->iterations, "iterations per size (default: OSU's, fewer above 8 KiB)", false,
       false},
      {'x', "warmup", "N", &options->warmup, "warm-up iterations, not timed (default: OSU's)", false, false},
      {'W', "window-size", "N", &options->window, "messages in flight in bandwidth tests", false},
      {'c', "validation", "", &options->validates, "check the data of each size", false},
      {'u', "validation-warmup", "N", &options->check_warmup, "iterations before each check of -c", false},
      {'M', "mem-limit", "SIZE", &options->memory_limit, "omit sizes with larger buffers on a rank (default: no limit)",
       false, false},
      {'b', "buffer-num", "KIND", cli::Choice{{"single", "multiple"}, &options->buffers, ""},
       "buffers per window: one (single), or one per message", false},
      {'d', "accelerator", "NAME", cli::Choice{{"cuda", "managed"}, &options->accelerator, ""},
       "location of collective buffers (default: the engine's)", false, false},
      {'f', "full", "", &options->is_full, "also print minimum, maximum and iterations of collectives", false},
      {'T', "type", "NAME", cli::Choice{{"mpi_char"}, &options->type, ""}, "element type", false},
      {'z', "tail-lat", "P,P,...", &options->percentiles, "also print these percentiles of latencies, such as 50,99",
       false, false},
      {'\0', "engine", "NAME", cli::Choice{engines, &options->engine, ""},
       "library to measure (default: first that supports the test)", false, false},
      {'\0', "mpi-plugin", "FILE", &options->mpi_plugin, "plug-in for --engine mpi (default: the installed one)", false,
       false},
      {'\0', "mpi-plugin-source", "", &options->prints_plugin_source,
       "print the source of a plug-in for another MPI and exit", false},
      {'\0', "nccl", "FILE", &options->nccl, "libnccl.so.2 of --engine nccl (default: installed one)", false, false},
      {'\0', "timeout", "S", &options->timeout_s, "time limit of a size, in seconds", false},
      {'v', "osu-version", "", &options->shows_version, "print the version of OSU's lines and exit", false},
      {'\0', "doctor-root", "RECORDING", &options->doctor_root, "run gdrkit doctor for the GPUs in use", false, false,
       false, 1, true},
      {'\0', "as-rank", "", &options->is_rank, "run as a rank", false, false, false, 1, true},
  };
  report::add_document_options(&line, options);
  line.operands = {
      &options->words, "TEST [D|H|M D|H|M]", "test and buffer locations of both ranks (collectives: one)", {}};
  for (const OsuTest& test : all_osu_tests) line.operands.words.emplace_back(test.name);
  line.refused = refused_options();
  return line;
}

int Plan::iterations(const Options& options, std::size_t size_bytes) const noexcept {
  if (options.iterations > 0) return options.iterations;
  const bool is_large = size_bytes > large_bytes;
  if (test->is_of_all_ranks()) return is_large ? 100 : 1000;
  return test->has_window() ? (is_large ? 20 : 100) : (is_large ? 1000 : 10000);
}

int Plan::warmup(const Options& options, std::size_t size_bytes) const noexcept {
  if (options.warmup >= 0) return options.warmup;
  const bool is_large = size_bytes > large_bytes;
  return test->has_window() ? (is_large ? 2 : 10) : (is_large ? 10 : 100);
}

Plan plan_of(const Options& options) {
  check_counts(options);
  if (options.words.empty()) {
    refuse("give a test: " + cli::joined(all_osu_tests, ", ", &OsuTest::name) + "\nTry: gdrkit osu --help");
  }
  Plan plan;
  plan.test = &find_test(options.words.front());
  plan.engine = &engine_in(options, *plan.test);
  plan.places = places_in(options, *plan.test, *plan.engine);
  check_places(plan);
  plan.sizes = sizes_in(options, *plan.test);
  plan.percentiles = percentiles_in(options.percentiles);
  plan.window = options.window;
  if (!plan.percentiles.empty() && plan.test->value != Value::latency)
    refuse("-z applies only to tests of latencies; omit -z");
  if (options.buffers == "multiple" && !plan.test->has_message_window()) {
    refuse("-b multiple applies only to bw, bibw and mbw_mr; omit -b");
  }
  if (options.is_full && !plan.test->is_of_all_ranks()) refuse("-f applies only to collectives; omit -f");
  return plan;
}

}  // namespace gdrkit::transfer::osu
