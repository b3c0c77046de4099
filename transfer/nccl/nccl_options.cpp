// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/nccl/nccl_options.hpp"

#include <cstdint>

#include "cli/interface/suggestion.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "transfer/engines/collective_engine.hpp"

namespace gdrkit::transfer::nccl {
namespace {

constexpr int most_count = 100'000'000;
constexpr int most_gpus = 64;
constexpr std::size_t most_sizes = 100'000;

[[noreturn]] void refuse(const std::string& text) { cli::reject("gdrkit nccl: " + text); }

void check_range(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    refuse(cli::format("%s %d is out of range: use %d to %d", name, value, least, most));
}

template <class T>
std::vector<std::string> names_and_all(const std::vector<T>& things) {
  std::vector<std::string> names;
  for (const T& thing : things) names.emplace_back(thing.name);
  names.emplace_back("all");
  return names;
}

/// "all_reduce_perf" is "all_reduce".
std::string test_name(const std::string& word) {
  constexpr const char* suffix = "_perf";
  const std::size_t at = word.rfind(suffix);
  return at != std::string::npos && at + 5 == word.size() ? word.substr(0, at) : word;
}

/// nccl-tests' options that `gdrkit nccl` rejects. tests/transfer/nccl/nccl_test.py lists all options.
std::vector<cli::RefusedOption> refused_options() {
  constexpr const char* of_device_code = "NCCL's own GPU kernels are measured; omit it";
  return {
      {'t', "nthreads", "one thread drives all GPUs of a process; use -g, or gdrkit run -n for processes", "1"},
      {'p', "parallel_init", "communicators are created by one thread; omit it", "0"},
      {'y', "stream_null", "operations have their own stream; omit it", "0"},
      {'G', "cudagraph", "operations are not captured in CUDA graphs; use -m to aggregate operations", "0"},
      {'S', "report_timestamps", "rows have no timestamps; use --json, which contains the date", "0"},
      {'x', "cta_policy", "NCCL selects the policy; set the variable NCCL_CTA_POLICY"},
      {'D', "device_implementation", of_device_code, "0"},
      {'V', "device_cta_count", of_device_code},
      {'M', "memory_report", "NCCL's memory is not reported; omit it", "0"},
      {'u', "unalign", "buffers are aligned; omit it", "0"},
      {'I', "per_iter_timing", "each time is the average over -n operations; use -n 1 with -N for single operations",
       "0"},
      {'K', "per_iter_skip", "each time is the average over -n operations; use -w to warm up", "0"},
      {'F', "output_file", "newer nccl-tests call it -J, for JSON; use -J, or --csv for CSV"},
  };
}

}  // namespace

std::vector<std::size_t> Options::sizes() const {
  std::vector<std::size_t> all;
  for (std::size_t size = smallest_bytes; size <= largest_bytes && all.size() <= most_sizes;) {
    all.push_back(size);
    const auto times = static_cast<std::size_t>(factor);
    if (factor > 1 && size > SIZE_MAX / times) break;
    size = factor > 1 ? size * times : size + step_bytes;
  }
  return all;
}

cli::CommandLine command_line(Options* options) {
  cli::CommandLine line;
  line.name = "nccl";
  line.summary =
      "Runs nccl-tests' measurements of collectives between GPUs, with their options and columns, on the installed "
      "NCCL. Use one process with several GPUs (-g), or one per GPU under gdrkit run, mpirun, srun or torchrun.";
  line.example =
      "gdrkit nccl all_reduce -b 8 -e 128M -f 2 -g 2\n"
      "  gdrkit run -n 2 -- gdrkit nccl all_gather -b 1K -e 1G -f 4 --engine shmem --json=gather.json";
  std::vector<std::string> engines;
  for (const engines::CollectiveEngineKind& engine : engines::all_collective_engines())
    engines.emplace_back(engine.name);
  line.options = {
      {'b', "minbytes", "SIZE", &options->smallest_bytes, "smallest size", false},
      {'e', "maxbytes", "SIZE", &options->largest_bytes, "largest size", false},
      {'i', "stepbytes", "SIZE", &options->step_bytes, "step between sizes, without -f", false},
      {'f', "stepfactor", "N", &options->factor, "factor between sizes (1: -i is used)", false},
      {'g', "ngpus", "N", &options->gpus, "GPUs of each process", false},
      {'n', "iters", "N", &options->iterations, "operations in a measurement", false},
      {'w', "warmup_iters", "N", &options->warmup, "operations before the first measurement, not timed", false},
      {'m', "agg_iters", "N", &options->aggregated, "operations in one NCCL group, which -n counts as one", false},
      {'N', "run_cycles", "N", &options->cycles, "repetitions of the table; JSON has a round for each", false},
      {'c', "check", "0|1", &options->check, "1: check the data of each row", false},
      {'o', "op", "OP", cli::Choice{names_and_all(engines::all_reductions()), &options->reduction, ""},
       "sum, prod, max, min, avg or all", false},
      {'d', "datatype", "TYPE", cli::Choice{names_and_all(engines::all_element_types()), &options->type, ""},
       "type (int8, ..., bfloat16, f8e4m3, f8e5m2) or all", false},
      {'r', "root", "RANK", &options->root, "root of broadcast, reduce, gather and scatter", false},
      {'R', "local_register", "0|1|2", &options->registered, "register the buffers: 1 locally, 2 as symmetric memory",
       false},
      {'z', "blocking", "0|1", &options->blocking, "1: wait for the end of each operation", false},
      {'C', "report_cputime", "0|1", &options->cpu_time, "1: measure the time to enqueue, not to the end", false},
      {'a', "average", "0|1|2|3", &options->average, "time of rank 0 or average, minimum, maximum of processes", false},
      {'T', "timeout", "S", &options->timeout_s, "time limit of a step, in seconds", false},
      {'\0', "engine", "NAME", cli::Choice{engines, &options->engine, ""}, "the library to measure", false},
      {'\0', "nccl", "FILE", &options->library, "path of libnccl.so.2 (default: by the dynamic linker)", false, false},
      {'\0', "doctor-root", "RECORDING", &options->doctor_root, "run gdrkit doctor for the GPUs in use", false, false,
       false, 1, true},
  };
  report::add_document_options(&line, options, 'J');
  line.operands = {&options->words, "TEST", "the collective to measure", {}};
  for (const engines::Collective& collective : engines::all_collectives())
    line.operands.words.emplace_back(collective.name);
  line.refused = refused_options();
  return line;
}

void check(const Options& options) {
  (void)chosen_collective(options);
  check_range("-n", options.iterations, 1, most_count);
  check_range("-w", options.warmup, 0, most_count);
  check_range("-m", options.aggregated, 1, most_count);
  check_range("-N", options.cycles, 1, most_count);
  check_range("-g", options.gpus, 1, most_gpus);
  check_range("-f", options.factor, 1, most_count);
  check_range("-c", options.check, 0, 1);
  check_range("-z", options.blocking, 0, 1);
  check_range("-C", options.cpu_time, 0, 1);
  check_range("-a", options.average, 0, 3);
  check_range("-R", options.registered, 0, 2);
  check_range("-T", options.timeout_s, 1, most_count / 1000);
  if (options.smallest_bytes > options.largest_bytes)
    refuse(cli::format("-b %zu exceeds -e %zu; use a smaller -b or a larger -e", options.smallest_bytes,
                       options.largest_bytes));
  if (options.smallest_bytes == 0 && options.factor > 1) refuse("-b 0 with -f never ends; use -b 1 or omit -f");
  if (options.factor == 1 && options.step_bytes == 0) refuse("-i 0 never ends; use a positive step");
  if (options.sizes().size() > most_sizes)
    refuse(cli::format("-b to -e has more than %zu sizes; use a larger -i or -f", most_sizes));
}

const engines::Collective& chosen_collective(const Options& options) {
  std::vector<std::string> names;
  for (const engines::Collective& collective : engines::all_collectives()) names.emplace_back(collective.name);
  if (options.words.size() != 1)
    refuse("give exactly one test, one of: " + cli::joined(names, ", ") + "\nTry: gdrkit nccl --help");
  const std::string name = test_name(options.words.front());
  for (const engines::Collective& collective : engines::all_collectives()) {
    if (name == collective.name) return collective;
  }
  refuse("unknown test '" + options.words.front() + "'" + cli::did_you_mean(name, names) + "\nTry: gdrkit nccl --help");
}

std::vector<const engines::ElementType*> chosen_types(const Options& options) {
  std::vector<const engines::ElementType*> chosen;
  for (const engines::ElementType& type : engines::all_element_types()) {
    if (options.type == "all" || options.type == type.name) chosen.push_back(&type);
  }
  return chosen;
}

std::vector<const engines::Reduction*> chosen_reductions(const Options& options,
                                                         const engines::Collective& collective) {
  if (!collective.is_reducing) return {&engines::no_reduction()};
  std::vector<const engines::Reduction*> chosen;
  for (const engines::Reduction& reduction : engines::all_reductions()) {
    if (options.reduction == "all" || options.reduction == reduction.name) chosen.push_back(&reduction);
  }
  return chosen;
}

}  // namespace gdrkit::transfer::nccl
