// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Compares instruction sequences for copies with the baseline of GDRCopy, on one mapping, in interleaved rounds of
// several processes. Prints medians of paired ratios; no figure is a condition.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "candidates.hpp"
#include "cli/interface/exit_code.hpp"
#include "measure/baseline/gdrcopy_sequence.hpp"
#include "measure/harness/clock.hpp"
#include "measure/harness/host_buffer.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/device/device.hpp"
#include "platform/host/stopwatch.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdrkit::tests {
namespace {

using measure::Rotation;
using platform::now_ns;

constexpr std::size_t largest = std::size_t{16} << 20;

struct Options {
  int processes = 5;
  int rounds = 15;
  double batch_ns = 150e3;
  std::size_t smallest_bytes = 1;
  std::size_t largest_bytes = largest;
  bool reads = true;
  bool writes = true;
  bool uses_pinned_source = false;
  bool runs_litmus = false;
};

/// How the calls of a batch follow each other. `same` is the pattern of GDRCopy's own latency program.
enum class Pattern { same, next_line, single };
constexpr const char* pattern_names[] = {"same", "next", "single"};

/// The memory of one process.
struct Bench {
  std::unique_ptr<platform::Device> device;
  std::unique_ptr<measure::AlignedAllocation> memory;
  std::unique_ptr<measure::MappedBuffer> buffer;
  measure::HostBuffer pageable{largest};
  platform::Allocation pinned;
  std::uint8_t* host = nullptr;
  gdr_mh_t handle{};
  std::uint8_t* mapping = nullptr;

  explicit Bench(const Options& options) {
    const char* const backend = std::getenv("GDRKIT_BACKEND");
    const bool is_emulated = backend != nullptr && std::strcmp(backend, "emulated") == 0;
    auto opened = is_emulated ? platform::open_emulated_device(0) : platform::open_cuda_device(0);
    if (!opened) throw cli::Failure(cli::ExitCode::cannot_run, opened.error().text());
    device = std::move(*opened);
    memory = std::make_unique<measure::AlignedAllocation>(device.get(), platform::AllocationKind::cuda_malloc, largest);
    buffer = std::make_unique<measure::MappedBuffer>(*memory, GDR_MAP_FLAG_DEFAULT);
    host = pageable.data();
    if (options.uses_pinned_source) {
      auto allocated = device->allocate(platform::AllocationKind::host, largest);
      if (!allocated) throw cli::Failure(cli::ExitCode::failed, allocated.error().text());
      pinned = std::move(*allocated);
      host = reinterpret_cast<std::uint8_t*>(pinned.address());
    }
    for (std::size_t at = 0; at < largest; ++at) host[at] = static_cast<std::uint8_t>(at * 131 + (at >> 8) * 29);
    handle = buffer->handle();
    mapping = buffer->user_pointer();
    (void)gdr_copy_to_mapping(handle, mapping, host, largest);
  }
};

/// The drop-in's read, with one of the two orders.
template <copy::ReadOrder order>
[[gnu::noinline]] int read_by_library(gdr_mh_t handle, void* host, const void* device, std::size_t size) {
  return core::copy_from_mapping<order>(handle.h, host, device, size);
}

/// One candidate at one size.
class Contestant {
 public:
  Contestant(const Bench& bench, const Candidate& candidate, std::size_t size)
      : bench_(bench), candidate_(candidate), size_(size), rotation_(candidate.direction, size) {}

  [[nodiscard]] const char* name() const { return candidate_.name; }

  /// Nanoseconds of a copy.
  [[nodiscard]] double run(Pattern pattern, std::size_t count) const {
    const std::size_t places = pattern == Pattern::next_line ? ~std::size_t{0} : 0;
    const auto device = [&](std::size_t number) { return bench_.mapping + rotation_.offset(number & places); };
    if (candidate_.direction == Direction::to_device) {
      if (candidate_.run == nullptr) {
        return platform::time_batch(count, [&](std::size_t number) {
          (void)gdr_copy_to_mapping(bench_.handle, device(number), bench_.host, size_);
        });
      }
      return platform::time_batch(count,
                                  [&](std::size_t number) { candidate_.run(device(number), bench_.host, size_); });
    }
    if (candidate_.run == nullptr && candidate_.order == copy::ReadOrder::as_gdrcopy) {
      return platform::time_batch(count, [&](std::size_t number) {
        (void)read_by_library<copy::ReadOrder::as_gdrcopy>(bench_.handle, bench_.host, device(number), size_);
      });
    }
    if (candidate_.run == nullptr) {
      return platform::time_batch(count, [&](std::size_t number) {
        (void)read_by_library<copy::ReadOrder::ordered>(bench_.handle, bench_.host, device(number), size_);
      });
    }
    return platform::time_batch(count, [&](std::size_t number) { candidate_.run(bench_.host, device(number), size_); });
  }

  /// The median of `count` calls that are timed one by one, each after the previous one has ended.
  [[nodiscard]] double run_singly(const measure::Clock& clock, std::size_t count) const {
    std::vector<double> each;
    each.reserve(count);
    for (std::size_t number = 0; number < count; ++number) {
      const std::uint64_t begin = clock.now();
      if (candidate_.run != nullptr) {
        const bool is_write = candidate_.direction == Direction::to_device;
        candidate_.run(is_write ? bench_.mapping : bench_.host, is_write ? bench_.host : bench_.mapping, size_);
      } else if (candidate_.direction == Direction::to_device) {
        (void)gdr_copy_to_mapping(bench_.handle, bench_.mapping, bench_.host, size_);
      } else if (candidate_.order == copy::ReadOrder::as_gdrcopy) {
        (void)read_by_library<copy::ReadOrder::as_gdrcopy>(bench_.handle, bench_.host, bench_.mapping, size_);
      } else {
        (void)read_by_library<copy::ReadOrder::ordered>(bench_.handle, bench_.host, bench_.mapping, size_);
      }
      each.push_back(clock.ns(clock.now() - begin));
    }
    return measure::median(std::move(each));
  }

  /// Whether a call copies the right bytes. Changes the host's buffer of a read.
  [[nodiscard]] bool is_correct() const {
    std::vector<std::uint8_t> expected(bench_.host, bench_.host + size_);
    const bool is_write = candidate_.direction == Direction::to_device;
    if (is_write) {
      (void)run(Pattern::same, 1);
      std::vector<std::uint8_t> seen(size_);
      return bench_.device->copy_to_host(seen.data(), bench_.memory->address(), size_).has_value() && seen == expected;
    }
    std::memset(bench_.host, 0, size_);
    (void)run(Pattern::same, 1);
    return std::memcmp(bench_.host, expected.data(), size_) == 0;
  }

 private:
  const Bench& bench_;
  const Candidate& candidate_;
  std::size_t size_;
  Rotation rotation_;
};

/// Prints "direction size pattern name ratio ns" for each contestant.
void measure_pattern(const std::vector<Contestant>& contestants, const Options& options, const measure::Clock& clock,
                     Direction direction, std::size_t size, Pattern pattern) {
  std::vector<std::size_t> counts;
  double round_ns = 0;
  for (const Contestant& contestant : contestants) {
    (void)contestant.run(pattern == Pattern::single ? Pattern::same : pattern, 3);
    const double each = contestant.run(pattern == Pattern::single ? Pattern::same : pattern, 3);
    const double fitting = options.batch_ns / std::max(each, 20.0);
    counts.push_back(std::clamp<std::size_t>(static_cast<std::size_t>(fitting), 1, 200000));
    round_ns += each * static_cast<double>(counts.back() + 1);
  }
  // Large copies vary little, and would take most of the time.
  constexpr double longest_ns = 1e9;
  const int rounds = std::clamp(static_cast<int>(longest_ns / round_ns), std::min(5, options.rounds), options.rounds);
  std::vector<std::vector<double>> ns(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < contestants.size(); ++turn) {
      const std::size_t index = (turn + static_cast<std::size_t>(round)) % contestants.size();
      const Contestant& contestant = contestants[index];
      if (pattern == Pattern::single) {
        ns[index].push_back(contestant.run_singly(clock, std::clamp<std::size_t>(counts[index], 1, 64)));
      } else {
        (void)contestant.run(pattern, 1);  // the previous contestant has left its state
        ns[index].push_back(contestant.run(pattern, counts[index]));
      }
    }
  }
  for (std::size_t index = 0; index < contestants.size(); ++index) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < ns[index].size(); ++round) ratios.push_back(ns[index][round] / ns[0][round]);
    std::printf("%s\t%zu\t%s\t%s\t%.5f\t%.2f\n", measure::direction_name(direction), size,
                pattern_names[static_cast<int>(pattern)], contestants[index].name(), measure::median(ratios),
                measure::median(ns[index]));
  }
  std::fflush(stdout);
}

void measure_size(const Bench& bench, const Options& options, const measure::Clock& clock, Direction direction,
                  std::size_t size) {
  std::vector<Contestant> contestants;
  for (const Candidate& candidate : candidates()) {
    if (candidate.direction != direction || size < candidate.smallest_bytes || size > candidate.largest_bytes) continue;
    contestants.emplace_back(bench, candidate, size);
    if (!contestants.back().is_correct()) {
      throw cli::Failure(cli::ExitCode::failed, std::string(candidate.name) + " copies wrong bytes");
    }
  }
  measure_pattern(contestants, options, clock, direction, size, Pattern::same);
  if (Rotation(direction, size).is_rotating()) {
    measure_pattern(contestants, options, clock, direction, size, Pattern::next_line);
  }
  measure_pattern(contestants, options, clock, direction, size, Pattern::single);
}

/// Another thread stores k to `size` bytes of the mapping, waits until the device has them, then publishes k in host
/// memory. A read that starts after k was seen must return at least k. `fenced`: an LFENCE between seeing and reading,
/// so that only a streaming-load buffer can be the source of older data.
void run_litmus(const Bench& bench, const Candidate& candidate, std::size_t size, bool fenced) {
#if defined(__x86_64__)
  constexpr std::int64_t duration_ns = 200'000'000;
  auto* const words = reinterpret_cast<volatile std::uint64_t*>(bench.mapping);
  const std::size_t count = size / 8;
  for (std::size_t i = 0; i < count; ++i) words[i] = 0;
  _mm_mfence();
  std::atomic<std::uint64_t> published{0};
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (std::uint64_t k = 1; !is_over.load(std::memory_order_relaxed); ++k) {
      for (std::size_t i = 0; i < count; ++i) words[i] = k;
      _mm_sfence();
      while (words[count - 1] != k) {
      }
      _mm_mfence();
      published.store(k, std::memory_order_release);
    }
  });
  std::vector<std::uint64_t> seen(count);
  std::size_t reads = 0, stale = 0;
  for (const std::int64_t end = now_ns() + duration_ns; now_ns() < end; ++reads) {
    const std::uint64_t expected = published.load(std::memory_order_acquire);
    if (fenced) _mm_lfence();
    if (candidate.run != nullptr) {
      candidate.run(seen.data(), bench.mapping, size);
    } else if (candidate.order == copy::ReadOrder::as_gdrcopy) {
      (void)read_by_library<copy::ReadOrder::as_gdrcopy>(bench.handle, seen.data(), bench.mapping, size);
    } else {
      (void)read_by_library<copy::ReadOrder::ordered>(bench.handle, seen.data(), bench.mapping, size);
    }
    stale += std::any_of(seen.begin(), seen.end(), [&](std::uint64_t value) { return value < expected; }) ? 1 : 0;
  }
  is_over.store(true);
  writer.join();
  std::printf("litmus\t%zu\t%s\t%s\t%zu\t%zu\n", size, fenced ? "buffer" : "order", candidate.name, stale, reads);
  std::fflush(stdout);
#endif
}

void run_child(const Options& options) {
  const Bench bench(options);
  if (options.runs_litmus) {
    for (const std::size_t size : {std::size_t{8}, std::size_t{64}, std::size_t{256}, std::size_t{1024}}) {
      for (const Candidate& candidate : candidates()) {
        if (candidate.direction != Direction::from_device || size < candidate.smallest_bytes ||
            size > candidate.largest_bytes) {
          continue;
        }
        for (const bool fenced : {false, true}) run_litmus(bench, candidate, size, fenced);
      }
    }
    return;
  }
  (void)platform::stay_on_this_cpu();
  const measure::Clock clock;
  for (const Direction direction : {Direction::from_device, Direction::to_device}) {
    if (direction == Direction::from_device ? !options.reads : !options.writes) continue;
    for (std::size_t size = options.smallest_bytes; size <= options.largest_bytes; size *= 2) {
      measure_size(bench, options, clock, direction, size);
    }
  }
}

struct Key {
  std::string direction;
  std::size_t size;
  std::string pattern;
  auto operator<=>(const Key&) const = default;
};

struct Results {
  std::vector<std::string> names;                                                 ///< in the order of the candidates
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> of;  ///< ratios and ns by name
};

/// Runs this program again as a child, and adds its lines to the results. Returns the child's exit code.
int collect(char** argv, std::map<Key, Results>* all) {
  int ends[2];
  if (::pipe(ends) != 0) return 1;
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::setenv("COMPARE_COPY_SEQUENCES_CHILD", "1", 1);
    ::execv("/proc/self/exe", argv);
    ::_exit(1);
  }
  ::close(ends[1]);
  std::FILE* const lines = ::fdopen(ends[0], "r");
  char direction[32], pattern[32], name[64];
  std::size_t size = 0;
  double ratio = 0, ns = 0;
  char line[256];
  while (lines != nullptr && std::fgets(line, sizeof line, lines) != nullptr) {
    if (std::sscanf(line, "%31[^\t]\t%zu\t%31[^\t]\t%63[^\t]\t%lf\t%lf", direction, &size, pattern, name, &ratio,
                    &ns) != 6)
      continue;
    Results& results = (*all)[{direction, size, pattern}];
    auto& [ratios, times] = results.of[name];
    if (ratios.empty()) results.names.emplace_back(name);
    ratios.push_back(ratio);
    times.push_back(ns);
  }
  if (lines != nullptr) std::fclose(lines);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

void print(const std::map<Key, Results>& all) {
  for (const auto& [key, results] : all) {
    if (key.direction == "litmus") {
      std::printf("litmus %-7s %5zu B:", key.pattern.c_str(), key.size);
      for (const std::string& name : results.names) {
        const auto& [stale, reads] = results.of.at(name);
        std::printf("  [%s] %.0f/%.0f", name.c_str(), sum(stale), sum(reads));
      }
    } else {
      const double baseline_ns = measure::median(results.of.at(results.names.front()).second);
      std::printf("%-11s %-6s %8zu B %12.1f ns:", key.direction.c_str(), key.pattern.c_str(), key.size, baseline_ns);
      for (std::size_t i = 1; i < results.names.size(); ++i) {
        std::printf("  [%s] %.3f", results.names[i].c_str(), measure::median(results.of.at(results.names[i]).first));
      }
    }
    std::printf("\n");
  }
}

[[noreturn]] void usage() {
  std::puts(
      "usage: compare_copy_sequences [processes=5] [rounds=15] [batch-us=150] [from=BYTES] [to=BYTES] "
      "[direction=read|write] [source=pageable|pinned] [litmus=1]");
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) usage();
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (name == "processes") {
      options.processes = static_cast<int>(number());
    } else if (name == "rounds") {
      options.rounds = static_cast<int>(number());
    } else if (name == "batch-us") {
      options.batch_ns = static_cast<double>(number()) * 1000;
    } else if (name == "from") {
      options.smallest_bytes = number();
    } else if (name == "to") {
      options.largest_bytes = number();
    } else if (name == "direction") {
      (value == "read" ? options.writes : options.reads) = false;
    } else if (name == "source") {
      options.uses_pinned_source = value == "pinned";
    } else if (name == "litmus") {
      options.runs_litmus = number() != 0;
    } else {
      usage();
    }
  }
  const bool is_power_of_two = (options.smallest_bytes & (options.smallest_bytes - 1)) == 0;
  if (options.smallest_bytes == 0 || !is_power_of_two || options.largest_bytes > largest) usage();
  return options;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (!measure::gdrcopy_sequence_runs_here()) {
    std::puts("skipped: this CPU lacks SSE4.1");
    return 77;
  }
  if (std::getenv("COMPARE_COPY_SEQUENCES_CHILD") != nullptr) {
    try {
      run_child(options);
      return 0;
    } catch (const cli::Failure& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      return static_cast<int>(failure.code());
    }
  }
  std::map<Key, Results> all;
  for (int process = 0; process < options.processes; ++process) {
    if (const int code = collect(argv, &all); code != 0) return code;
  }
  std::printf("ratios to GDRCopy's sequence (stores %s, loads %s), medians of %d processes of %d interleaved rounds\n",
              measure::gdrcopy_store_name(), measure::gdrcopy_load_name(), options.processes, options.rounds);
  print(all);
  return 0;
}

}  // namespace
}  // namespace gdrkit::tests

int main(int argc, char** argv) { return gdrkit::tests::run(argc, argv); }
