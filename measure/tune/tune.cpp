// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// tune: measures every engine through the gdrkit API, and writes the profile computed from the times.
#include "measure/tune/tune.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/interface/device_choice.hpp"
#include "cli/interface/exit_code.hpp"
#include "cli/interface/whole_file.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "gdrkit/detail/engine_profile.h"
#include "gdrkit/gdrkit.hpp"
#include "measure/harness/samples.hpp"
#include "measure/tool_parts/mapped_buffer.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::tune {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t sizes[] = {1 * kib,   2 * kib,   3 * kib,    4 * kib,    6 * kib,    8 * kib,    16 * kib,
                                 32 * kib,  64 * kib,  96 * kib,   128 * kib,  192 * kib,  256 * kib,  384 * kib,
                                 512 * kib, 768 * kib, 1024 * kib, 2048 * kib, 4096 * kib, 8192 * kib, 16384 * kib};
constexpr std::size_t memory_bytes = 16384 * kib;
constexpr double slowest_us = 2500;  // an engine that takes longer is not measured with larger sizes
constexpr int passes = 2;  // over all measurements; the smaller time counts, because other work comes in bursts
constexpr int turns = 3;   // of each engine at a size, per pass

/// Number of timed copies per turn: as many as the time allows.
struct Pace {
  std::int64_t pause_ns;  ///< before each copy
  std::int64_t turn_ns;
  std::size_t fewest, most;
};
constexpr Pace back_to_back = {0, 800'000, 1, 40};
constexpr Pace apart = {1'000'000, 0, 2, 2};       // the mover and the lanes' helpers have ended by then
constexpr Pace apart_once = {1'000'000, 0, 1, 1};  // for the mover, which must be launched: never a choice

cli::CommandLine command_line(TuneOptions* options) {
  cli::CommandLine line;
  line.name = "tune";
  line.summary =
      "Measures the engines in a few seconds and stores the fastest for each size, for mappings with engine "
      "\"automatic\".";
  line.example = "gdrkit tune --json tune.json";
  line.options = {{'o', "output", "FILE", &options->output,
                   "file of the profile (default: in the user's cache directory)", false, false}};
  cli::add_common_options(&line, &options->common);
  return line;
}

struct HostBlock {
  const char* kind;
  std::byte* bytes;
};

class Tune {
 public:
  explicit Tune(const TuneOptions& options) : options_(options) {}

  cli::ExitCode run() {
    device_ = open_for_report(options_.common, &report_);
    const AlignedAllocation memory(device_.get(), platform::AllocationKind::cuda_malloc, memory_bytes);
    auto pinned = device_->allocate(platform::AllocationKind::host, memory_bytes);
    if (!pinned) cli::cannot_run(std::string("cannot allocate pinned host memory: ") + pinned.error().text());
    const std::vector<std::byte> ordinary(memory_bytes, std::byte{1});
    hosts_[0] = {"pinned", reinterpret_cast<std::byte*>(pinned->address())};
    hosts_[1] = {"ordinary", const_cast<std::byte*>(ordinary.data())};
    const std::int64_t begin = platform::now_ns();
    try {
      measure_all(memory.address());
    } catch (const gdrkit::Error& error) {
      throw cli::Failure(error.code() == std::errc::no_such_device ? cli::ExitCode::cannot_run : cli::ExitCode::failed,
                         error.what());
    }
    report_.seconds = static_cast<double>(platform::now_ns() - begin) / 1e9;
    if (!options_.common.json.is_on_stdout()) print();
    if (options_.common.json.is_given) write_tune_json(options_, report_);
    return cli::ExitCode::ok;
  }

 private:
  void measure_all(std::uint64_t address) {
    for (const char* direction : {"from_device", "to_device"}) {
      for (const HostBlock& host : hosts_) report_.times.push_back({direction, host.kind, {}, {}});
    }
    {
      const Context context;
      report_.backend = context.backend_name();
      report_.path = options_.output.empty() ? own_path(context) : options_.output;
      measure(context, address, {"cpu", "lanes", "copy_engine", "mover"});
    }
    report_.profile = profile_text(report_.times);
    cli::write_whole_file(report_.path, report_.profile);
    if (!options_.output.empty()) return;
    const Context context;  // reads the profile
    measure(context, address, {"automatic"});
  }

  [[nodiscard]] std::string own_path(const Context& context) const {
    if (report_.is_emulated) {
      cli::cannot_run(
          "cannot store the profile: the emulated device has no default path for profiles; use --output FILE");
    }
    char path[4096];
    const int result = gdrkit_engine_profile_path(context.handle(), options_.common.device, path, sizeof path);
    if (result < 0) {
      cli::cannot_run(std::string(gdrkit_last_error()) + "; or use --output FILE to write the profile elsewhere");
    }
    const std::string whole = path;
    const std::string directory = whole.substr(0, whole.rfind('/'));
    for (std::size_t end = directory.find('/', 1);; end = directory.find('/', end + 1)) {
      ::mkdir(directory.substr(0, end).c_str(), 0700);  // if it fails, writing the file reports the error
      if (end == std::string::npos) return whole;
    }
  }

  /// An engine that can run here.
  struct Way {
    std::string engine;
    Pin pin;
    Mapping mapping;
    bool has_failed = false;
  };

  void measure(const Context& context, std::uint64_t address, std::initializer_list<const char*> engines) {
    std::vector<Way> ways;
    for (const char* engine : engines) {
      Pin pin = context.pin(address, memory_bytes);
      try {
        Mapping mapping = pin.map({.engine = engine_from_name(engine).value()});
        ways.push_back({engine, std::move(pin), std::move(mapping)});
      } catch (const gdrkit::Error& error) {
        if (!can_be_left_out(engine)) throw;
        report_.notes.push_back(std::string("copy engine '") + engine + "' cannot run here: " + error.what());
      }
    }
    for (int pass = 0; pass < passes; ++pass) {
      std::size_t cell = 0;
      for (const bool is_read : {true, false}) {
        for (const HostBlock& host : hosts_) {
          EngineTimes& times = report_.times[cell++];
          measure_sizes(ways, is_read, host.bytes, false, &times.warm);
          measure_sizes(ways, is_read, host.bytes, true, &times.cold);
        }
      }
    }
  }

  /// Measures the engines in turns, so that longer disturbances of the machine affect all of them.
  void measure_sizes(std::vector<Way>& ways, bool is_read, std::byte* host, bool is_cold,
                     std::map<std::string, std::map<std::size_t, double>>* times) {
    for (const std::size_t size : sizes) {
      std::map<std::string, std::vector<double>> medians;
      for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t number = 0; number < ways.size(); ++number) {
          // Alternates the order: an engine's threads, or its GPU kernel, are busy for a while after its last copy.
          Way& way = ways[turn % 2 == 0 ? number : ways.size() - 1 - number];
          if (way.has_failed) continue;
          const std::map<std::size_t, double>& known = (*times)[way.engine];
          const bool is_slow = !known.empty() && known.rbegin()->second > slowest_us;
          if (is_slow && known.rbegin()->first < size) continue;
          try {
            medians[way.engine].push_back(median_of_turn(way, is_read, {host, size}, is_cold));
          } catch (const gdrkit::Error& error) {
            leave_out(way, size, error.what());
            medians.erase(way.engine);
          }
        }
      }
      for (const auto& [engine, values] : medians) {
        const double time = measure::median(values);
        double& known = (*times)[engine].emplace(size, time).first->second;
        known = std::min(known, time);
      }
    }
  }

  static bool can_be_left_out(const std::string& engine) { return engine != "cpu" && engine != "automatic"; }

  void leave_out(Way& way, std::size_t size, const std::string& why) {
    const std::string what = "copy engine '" + way.engine + "' failed to copy " + std::to_string(size) + " bytes";
    if (!can_be_left_out(way.engine)) cli::fail(what + ": " + why);
    report_.notes.push_back(what + " and is left out: " + why);
    way.has_failed = true;
    for (EngineTimes& each : report_.times) {
      each.warm.erase(way.engine);
      each.cold.erase(way.engine);
    }
  }

  static double median_of_turn(Way& way, bool is_read, std::span<std::byte> host, bool is_cold) {
    // Written like a program's data: the GPU's read speed depends on it (docs/design/0019).
    std::memset(host.data(), 1, host.size());
    const Pace& pace = !is_cold ? back_to_back : way.engine == "mover" ? apart_once : apart;
    return turn_us(pace, [&] {
      if (is_read) {
        way.mapping.read(0, host);
      } else {
        way.mapping.write(0, host);
      }
    });
  }

  template <class Once>
  static double turn_us(const Pace& pace, Once once) {
    once();  // the engine's last copy has touched the host memory, and the engine is warm unless there is a pause
    std::vector<double> times;
    const std::int64_t begin = platform::now_ns();
    while (times.size() < pace.fewest || (times.size() < pace.most && platform::now_ns() - begin < pace.turn_ns)) {
      // Spins: the wake-up time of a core must not count as an engine's time.
      for (const std::int64_t pause = platform::now_ns(); platform::now_ns() - pause < pace.pause_ns;) {
      }
      times.push_back(platform::time_batch(1, [&](std::size_t) { once(); }) / 1000);
    }
    return measure::median(times);
  }

  void print() const {
    for (const EngineTimes& times : report_.times) {
      if (options_.common.quiet) break;
      std::printf("%s, %s host memory, median us back to back / 1 ms apart\n%10s",
                  times.direction == "to_device" ? "to the device" : "from the device", times.host_memory.c_str(),
                  "bytes");
      for (const auto& [engine, unused] : times.warm) std::printf(" %19s", engine.c_str());
      std::printf("\n");
      for (const std::size_t size : sizes) {
        std::printf("%10zu", size);
        for (const auto& [engine, unused] : times.warm) {
          std::printf(" %9s /%8s", text_of_time(times.warm, engine, size).c_str(),
                      text_of_time(times.cold, engine, size).c_str());
        }
        std::printf("\n");
      }
    }
    for (const std::string& note : report_.notes) std::printf("%s\n", cli::fitted(note, 2).c_str());
    std::printf("%s: profile of %s, measured in %.1f s\n", cli::printable(report_.path).c_str(),
                cli::printable(report_.machine.gpu_name).c_str(), report_.seconds);
  }

  static std::string text_of_time(const std::map<std::string, std::map<std::size_t, double>>& times,
                                  const std::string& engine, std::size_t size) {
    const auto by_size = times.find(engine);
    if (by_size == times.end() || by_size->second.count(size) == 0) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", by_size->second.at(size));
    return text;
  }

  const TuneOptions& options_;
  std::unique_ptr<platform::Device> device_;
  HostBlock hosts_[2];
  TuneReport report_;
};

}  // namespace

cli::ExitCode run_tune(cli::Front front, int argc, char** argv) {
  TuneOptions options;
  if (const auto ended = cli::parse(command_line(&options), front, argc, argv)) return *ended;
  if (!options.output.empty()) cli::check_can_write(options.output);
  return Tune(options).run();
}

}  // namespace gdrkit::measure::tune
