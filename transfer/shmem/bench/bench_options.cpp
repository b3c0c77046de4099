// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/bench_options.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/interface/size.hpp"
#include "cli/interface/suggestion.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr int most_rounds = 1000;
constexpr int most_iterations = 100'000'000;
constexpr int most_pes = 64;
constexpr const char* all_sides = "all";
const std::vector<std::string> known_peers = {"nvshmem", "nccl"};

cli::CommandLine command_line(BenchOptions* options) {
  cli::CommandLine line;
  line.name = "shmem bench";
  line.summary =
      "Measures one-sided communication between GPUs of this machine, from the CPU, on streams and from GPU kernels: "
      "latency, "
      "bandwidth, rates, atomics, barriers. It starts the PEs itself.";
  line.example =
      "gdrkit shmem bench --json\n  gdrkit shmem bench --peer nvshmem -t put_host_quiet -t barrier_all\n"
      "  gdrkit shmem bench --side device --quick\n"
      "  gdrkit shmem bench --compare old.json";
  line.options = {
      {'b', "min", "SIZE", &options->sizes.smallest_bytes, "smallest size of latencies", false},
      {'e', "max", "SIZE", &options->sizes.largest_bytes, "largest size of latencies", false},
      {'\0', "bulk", "SIZE", &options->sizes.largest_bulk_bytes,
       "largest size of bandwidths (0: none), from 1M, GPU kernels from 64K", false},
      {'n', "iterations", "N", &options->iterations, "operations in a round (default: as many as take 2 ms)", false,
       false},
      {'w', "warm-up", "N", &options->warmup, "operations before the rounds (default: a few of each size)", false,
       false},
      {'\0', "rounds", "N", &options->rounds, "rounds; each value is their median", false},
      {'\0', "singles", "N", &options->singles, "host operations timed one by one, for percentiles", false},
      {'\0', "starts", "N", &options->starts, "measurements of the time from start to first put", false},
      {'\0', "pes", "N", &options->n_pes, "PEs to start", false},
      {'\0', "side", "SIDE", cli::Choice{{all_sides, "host", "stream", "device"}, &options->side, ""},
       "caller: host, stream or device (default: all)", false, false},
      {'t', "test", "NAME", &options->names, "run this measurement; can be repeated", false},
      {'\0', "compare", "OLD.json", &options->compare_path,
       "compare with an earlier result (exit code 1: slower, 2: no verdict)", false, false},
      {'\0', "force", "", &options->is_forced, "with --compare: accept a result of another machine", false},
      {'\0', "quick", "", &options->is_brief, "fewer rounds", false},
      {'l', "list", "", &options->is_list, "list the measurements and exit", false},
      {'\0', "peer", "LIBRARY", &options->peers,
       "also measure an installed library: nvshmem, nccl (collectives); can be repeated", false},
      {'\0', "nvshmem", "FILE", &options->files.nvshmem,
       "path of libnvshmem_host.so.3 (default: $NVSHMEM_HOME or Python package)", false, false},
      {'\0', "nvshmem-device", "FILE", &options->files.nvshmem_device,
       "path of nvshmem_device.fatbin (default: next to this program)", false, false},
      {'\0', "nccl", "FILE", &options->files.nccl, "path of libnccl.so.2 (default: $NCCL_HOME or Python package)",
       false, false},
      {'q', "quiet", "", &options->is_quiet, "print no progress", false},
      {'\0', "worker", "LIBRARY", &options->worker, "run as a PE of this library", false, false, false, 1, true},
      {'\0', "channel", "N", &options->channel, "the worker's socket", false, false, false, 1, true},
      cli::json_option(&options->json, "transfer/shmem/bench/README.md"),
  };
  return line;
}

[[noreturn]] void refuse(const std::string& why) { cli::reject("gdrkit shmem bench: " + why); }

void check_count(const char* name, int value, int least, int most) {
  if (value < least || value > most)
    refuse(cli::format("%s %d is out of range: use %d to %d", name, value, least, most));
}

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* where) {
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    refuse("unknown name '" + name + "'" + cli::did_you_mean(name, known) + where);
  }
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const Case& one : all_cases()) names.emplace_back(one.name);
  return names;
}

/// The new result must not replace the old one, which --compare still needs.
void check_comparison(const BenchOptions& options) {
  if (options.is_forced && options.compare_path.empty()) refuse("--force requires --compare OLD.json");
  if (options.compare_path.empty() || !options.json.is_in_file()) return;
  std::error_code error;
  if (std::filesystem::equivalent(options.json.path, options.compare_path, error)) {
    refuse("--compare reads " + options.json.path + "; write the new result to another file");
  }
}

void check(const BenchOptions& options) {
  check_comparison(options);
  check_count("--pes", options.n_pes, 1, most_pes);
  check_count("--rounds", options.rounds, 1, most_rounds);
  check_count("-n", options.iterations, 0, most_iterations);
  check_count("-w", options.warmup, 0, most_iterations);
  check_count("--singles", options.singles, 0, most_iterations);
  check_count("--starts", options.starts, 1, most_rounds);
  if (options.sizes.smallest_bytes == 0 || options.sizes.smallest_bytes > options.sizes.largest_bytes) {
    refuse(cli::format("-b %zu is out of range: use 1 to %zu (-e)", options.sizes.smallest_bytes,
                       options.sizes.largest_bytes));
  }
  check_names(options.names, case_names(), "; --list lists the measurements");
  check_names(options.peers, known_peers, " for --peer; use nvshmem or nccl");
}

void shorten(BenchOptions* options) {
  constexpr int brief_rounds = 5;
  constexpr int brief_singles = 100;
  options->rounds = std::min(options->rounds, brief_rounds);
  options->singles = std::min(options->singles, brief_singles);
  options->starts = 1;
}

}  // namespace

std::optional<cli::ExitCode> parse_bench_options(cli::Front front, int argc, char** argv, BenchOptions* options) {
  if (const auto ended = parse(command_line(options), front, argc, argv)) return ended;
  if (!options->worker.empty()) return std::nullopt;
  check(*options);
  options->sizes.n_pes = options->n_pes;
  if (options->side.empty()) options->side = all_sides;
  if (options->is_brief) shorten(options);
  return std::nullopt;
}

bool BenchOptions::has_own_sizes() const {
  const SizeRange usual;
  return sizes.smallest_bytes != usual.smallest_bytes || sizes.largest_bytes != usual.largest_bytes ||
         sizes.largest_bulk_bytes != usual.largest_bulk_bytes;
}

std::vector<std::size_t> chosen_cases(const BenchOptions& options) {
  std::vector<std::size_t> chosen;
  for (std::size_t number = 0; number < all_cases().size(); ++number) {
    const Case& one = all_cases()[number];
    const bool is_named = std::ranges::find(options.names, one.name) != options.names.end();
    const bool is_of_side = options.side == all_sides || options.side == one.side;
    const bool lacks_other = std::strcmp(one.operation, "ping_pong") == 0 && options.n_pes < 2;
    if ((options.names.empty() || is_named) && is_of_side && !lacks_other) chosen.push_back(number);
  }
  return chosen;
}

}  // namespace gdrkit::transfer::shmem
