// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// tune: times of every engine through the own API, and the profile made of them.
#include "measure/tune/tune.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/common/device_choice.hpp"
#include "cli/common/whole_file.hpp"
#include "gdrkit/gdrkit.hpp"
#include "measure/common/mapped_buffer.hpp"
#include "measure/harness/samples.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::tools {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t sizes[] = {1 * kib,   2 * kib,   3 * kib,    4 * kib,    6 * kib,    8 * kib,    16 * kib,
                                 32 * kib,  64 * kib,  96 * kib,   128 * kib,  192 * kib,  256 * kib,  384 * kib,
                                 512 * kib, 768 * kib, 1024 * kib, 2048 * kib, 4096 * kib, 8192 * kib, 16384 * kib};
constexpr std::size_t memory_bytes = 16384 * kib;
constexpr std::int64_t cell_ns = 3'000'000;    // a size of an engine is measured so long, back to back
constexpr double slowest_us = 2500;            // an engine that takes longer is not measured with larger sizes
constexpr std::size_t fewest = 5, most = 200;  // copies of a size
constexpr std::size_t cold_rounds = 7;
constexpr std::int64_t cold_pause_ns = 1'000'000;  // the mover and the lanes' helpers have gone by then
constexpr int passes = 2;  // over all engines; the smaller median counts: other work on the machine comes in bursts

CommandLine command_line(TuneOptions* options) {
  CommandLine line;
  line.name = "tune";
  line.summary =
      "Measures the engines that copy between host and device memory, in some seconds, and keeps the fastest ones by "
      "size for mappings with engine \"automatic\".";
  line.example = "gdrkit tune --json tune.json";
  line.options = {{'o', "output", "FILE", &options->output,
                   "where the profile goes (default: the user's cache folder, where the library reads it)", false,
                   false}};
  add_common_options(&line, &options->common);
  return line;
}

struct HostBlock {
  const char* kind;
  std::byte* bytes;
};

class Tune {
 public:
  explicit Tune(const TuneOptions& options) : options_(options) {}

  ExitCode run() {
    apply(options_.common);
    const DeviceChoice choice = choose_device(find_gpus());
    print_note(choice, options_.common.json.is_on_stdout());
    device_ = open_device(choice, options_.common.device);
    report_.is_emulated = choice.is_emulated;
    report_.machine = describe_machine(device_.get());
    const AlignedAllocation memory(device_.get(), platform::AllocationKind::cuda_malloc, memory_bytes);
    auto pinned = device_->allocate(platform::AllocationKind::host, memory_bytes);
    if (!pinned) throw Failure(ExitCode::cannot_run, std::string("no pinned host memory: ") + pinned.error().text());
    const std::vector<std::byte> ordinary(memory_bytes, std::byte{1});
    hosts_[0] = {"pinned", reinterpret_cast<std::byte*>(pinned->address())};
    hosts_[1] = {"ordinary", const_cast<std::byte*>(ordinary.data())};
    const std::int64_t begin = platform::now_ns();
    try {
      measure_all(memory.address());
    } catch (const gdrkit::Error& error) {
      throw Failure(error.code() == std::errc::no_such_device ? ExitCode::cannot_run : ExitCode::failed, error.what());
    }
    report_.seconds = static_cast<double>(platform::now_ns() - begin) / 1e9;
    if (!options_.common.json.is_on_stdout()) print();
    if (options_.common.json.is_given) write_tune_json(options_, report_);
    return ExitCode::ok;
  }

 private:
  void measure_all(std::uint64_t address) {
    for (const char* direction : {"from_device", "to_device"}) {
      for (const HostBlock& host : hosts_) report_.times.push_back({direction, host.kind, {}, {}});
    }
    {
      const Context context;
      report_.backend = context.backend_name();
      const Pin pin = context.pin(address, memory_bytes);
      report_.path = options_.output.empty() ? own_path(context) : options_.output;
      for (int pass = 0; pass < passes; ++pass) {
        report_.notes.clear();
        for (const char* engine : {"cpu", "lanes", "copy_engine", "mover"}) measure_engine(pin, engine);
      }
    }
    report_.profile = profile_text(report_.times);
    write_whole_file(report_.path, report_.profile);
    if (!options_.output.empty()) return;
    const Context context;  // reads the profile
    for (int pass = 0; pass < passes; ++pass) measure_engine(context.pin(address, memory_bytes), "automatic");
  }

  [[nodiscard]] std::string own_path(const Context& context) const {
    char path[4096];
    const int result = gdrkit_engine_profile_path(context.handle(), options_.common.device, path, sizeof path);
    if (result < 0) {
      throw Failure(ExitCode::cannot_run,
                    std::string(gdrkit_last_error_detail()) + " (--output FILE names a place for the profile)");
    }
    const std::string whole = path;
    const std::string folder = whole.substr(0, whole.rfind('/'));
    for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
      ::mkdir(folder.substr(0, end).c_str(), 0700);  // where that fails, writing the file says so
      if (end == std::string::npos) return whole;
    }
  }

  void measure_engine(const Pin& pin, const char* engine) {
    std::optional<Mapping> mapping;
    try {
      mapping.emplace(pin.map(MappingType::automatic, engine));
    } catch (const gdrkit::Error& error) {
      report_.notes.push_back(std::string(engine) + " cannot run here: " + error.what());
      return;
    }
    std::size_t cell = 0;
    for (const bool is_read : {true, false}) {
      for (const HostBlock& host : hosts_) {
        EngineTimes& times = report_.times[cell++];
        const auto copy = [&](std::size_t size) {
          const std::span<std::byte> bytes(host.bytes, size);
          if (is_read) {
            mapping->read(0, bytes);
          } else {
            mapping->write(0, bytes);
          }
        };
        // As a program that wrote what it sends: the mover reads faster from the CPU's caches (docs/design/0019).
        const auto touch = [&](std::size_t size) { std::memset(host.bytes, 1, size); };
        const auto warm = [&](std::size_t size) { return touch(size), warm_us([&] { copy(size); }); };
        const auto cold = [&](std::size_t size) { return touch(size), cold_us([&] { copy(size); }); };
        measure_sizes(warm, &times.warm[engine]);
        // No choice where it has to be launched, so that once is enough to show it.
        if (engine == std::string("mover") && !times.cold[engine].empty()) continue;
        measure_sizes(cold, &times.cold[engine]);
      }
    }
  }

  template <class TimeOf>
  static void measure_sizes(TimeOf time_of, std::map<std::size_t, double>* times) {
    for (const std::size_t size : sizes) {
      const double time = time_of(size);
      const auto known = times->emplace(size, time).first;
      known->second = std::min(known->second, time);
      if (time > slowest_us) return;
    }
  }

  template <class Once>
  static double warm_us(Once once) {
    once();
    std::vector<double> times;
    const std::int64_t begin = platform::now_ns();
    while (times.size() < fewest || (times.size() < most && platform::now_ns() - begin < cell_ns)) {
      times.push_back(platform::time_batch(1, [&](std::size_t) { once(); }) / 1000);
    }
    return measure::median(times);
  }

  template <class Once>
  static double cold_us(Once once) {
    std::vector<double> times;
    for (std::size_t round = 0; round < cold_rounds; ++round) {
      // Not asleep: what a core takes to wake up is no engine's time.
      for (const std::int64_t begin = platform::now_ns(); platform::now_ns() - begin < cold_pause_ns;) {
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
    for (const std::string& note : report_.notes) std::printf("%s\n", note.c_str());
    std::printf("%s: profile of %s, measured in %.1f s\n", report_.path.c_str(), report_.machine.gpu_name.c_str(),
                report_.seconds);
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

ExitCode run_tune(Front front, int argc, char** argv) {
  TuneOptions options;
  if (const auto ended = parse(command_line(&options), front, argc, argv)) return *ended;
  if (!options.output.empty()) check_can_write(options.output);
  return Tune(options).run();
}

}  // namespace gdrkit::tools
