// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// A recording of a machine with any damage, processed by the whole doctor, topo and env: all of them end, and their
// output has the right format for any content of the files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>

#include "diag/doctor/doctor_text.hpp"
#include "diag/doctor/verdict/verdicts.hpp"
#include "diag/env/formats.hpp"
#include "diag/machine/topology_facts.hpp"
#include "diag/topo/topo_outputs.hpp"
#include "fuzz_target.hpp"
#include "healthy_machine.hpp"
#include "machine_damage.hpp"

using namespace gdrkit::diag;
using namespace gdrkit::cli;
using gdrkit::fuzz::HealthyMachine;
using gdrkit::fuzz::InputReader;
using gdrkit::fuzz::MachineDamage;
using gdrkit::fuzz::MemoryTree;

namespace {

// The healthy machine requires 25,000 calls and 0.2 MB.
constexpr std::size_t most_calls = 1'000'000;
constexpr std::size_t most_bytes = std::size_t{1} << 26;

/// Faults with commands as remedies, so that a script contains more than comments.
void add_faults(MemoryTree* tree) {
  const std::string switches = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/";
  tree->find(switches + "0000:02:00.0/config")->content[0x146] = 0x1d;              // ACS redirects
  tree->find(switches + "0000:02:02.0/0000:05:00.0/config")->content[0x69] = 0x20;  // short read requests
  tree->put("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
  tree->put("/proc/self/limits", "Max open files  1024 1048576 files\nMax locked memory  65536 65536 bytes\n");
  tree->put("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n");
  tree->put("/proc/sys/kernel/numa_balancing", "1\n");
  tree->put_device("/dev/gdrdrv", 507, 0);
}

/// Names with characters that a script would interpret: of the host, and of the interface in the script.
void add_hostile_names(MemoryTree* tree, InputReader* input) {
  std::string name = input->of(gdrkit::fuzz::hostile_texts()) + gdrkit::fuzz::canary;
  tree->put("/proc/sys/kernel/hostname", name + "\n");
  for (const char unfit : {'/', '\0'}) name.erase(std::remove(name.begin(), name.end(), unfit), name.end());
  auto* const directory = tree->find("/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:03.0/0000:06:00.0/net");
  directory->inside[name] = directory->inside["eth1"];
  directory->inside.erase("eth1");
}

/// Returns what `print` prints. glibc allows replacing stdout temporarily.
template <class Print>
std::string printed(const Print& print) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const usual = stdout;
  stdout = ::open_memstream(&text, &size);
  FUZZ_CHECK(stdout != nullptr);
  print();
  std::fclose(stdout);
  stdout = usual;
  std::string result(text, size);
  std::free(text);
  return result;
}

bool is_printable(const std::string& line) {
  for (const char character : line)
    if (character < 0x20 || character > 0x7e) return false;
  return true;
}

/// Checks that lines end, and contain no characters that a terminal interprets. Names may contain non-ASCII characters.
void check_text(const std::string& text) {
  FUZZ_CHECK(text.empty() || text.back() == '\n');
  unsigned char before = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    FUZZ_CHECK(byte >= 0x20 || byte == '\n' || byte == '\t');
    FUZZ_CHECK(byte != 0x7f);
    FUZZ_CHECK(before != 0xc2 || byte < 0x80 || byte >= 0xa0);
    before = byte;
  }
}

/// Checks the strings, which contain the content of files with control characters escaped.
void check_json(const std::string& text) {
  FUZZ_CHECK(!text.empty() && text.back() == '\n');
  for (const char character : text) FUZZ_CHECK(static_cast<unsigned char>(character) >= 0x20 || character == '\n');
  FUZZ_CHECK(nlohmann::json::accept(text));
}

/// Checks that every quoted word ends on its line, and that content of files is a comment or a plain word.
void check_script(const std::string& text) {
  check_text(text);
  std::istringstream lines(text);
  bool is_inside_file = false;
  for (std::string line; std::getline(lines, line);) {
    FUZZ_CHECK(is_printable(line));
    if (is_inside_file && line == "END_OF_FILE") {
      is_inside_file = false;
      continue;
    }
    if (!is_inside_file && (line.empty() || line.front() == '#')) continue;
    FUZZ_CHECK(line.find(gdrkit::fuzz::canary) == std::string::npos);
    if (is_inside_file) continue;
    char quote = '\0';
    for (const char character : line) {
      if (quote == '\0' && (character == '\'' || character == '"')) {
        quote = character;
      } else if (character == quote) {
        quote = '\0';
      }
    }
    FUZZ_CHECK(quote == '\0');
    is_inside_file = line.find("<<'END_OF_FILE'") != std::string::npos;
  }
  FUZZ_CHECK(!is_inside_file);
}

/// Checks Prometheus' format: a comment, or a series with its labels and a number.
void check_metrics(const std::string& text) {
  check_text(text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0) continue;
    FUZZ_CHECK(line.rfind("gdrkit_", 0) == 0);
    const std::string value = line.substr(line.rfind(' ') + 1);
    char* end = nullptr;
    FUZZ_CHECK(std::strtod(value.c_str(), &end) >= 0 && *end == '\0' && !value.empty());
  }
}

void check_examination(const doctor::Examination& examination, bool is_strict) {
  std::array<unsigned, 6> counts{};
  for (const doctor::CheckResult& result : examination.results) {
    FUZZ_CHECK(!result.findings.empty());
    for (const doctor::Finding& finding : result.findings) {
      ++counts[static_cast<std::size_t>(finding.state)];
      FUZZ_CHECK(!finding.text.empty());
      FUZZ_CHECK(is_printable(finding.text) && is_printable(finding.subject) && is_printable(finding.command));
    }
  }
  FUZZ_CHECK(counts == examination.counts);
  FUZZ_CHECK(examination.results.size() + examination.not_run.size() == doctor::all_checks().size());
  const auto count = [&](doctor::State state) { return counts[static_cast<std::size_t>(state)]; };
  const bool is_failed = count(doctor::State::fail) > 0 || (is_strict && count(doctor::State::warn) > 0);
  FUZZ_CHECK(is_failed == (examination.code == ExitCode::failed));
  FUZZ_CHECK(is_failed || examination.code == ExitCode::ok || examination.code == ExitCode::unreadable);
  FUZZ_CHECK(examination.code != ExitCode::unreadable || count(doctor::State::unknown) > 0);
}

doctor::Examination examine_all(const Machine& machine, bool is_strict) {
  return doctor::examine(machine, "x", doctor::select({}), Level::quick, is_strict);
}

/// --json without a file.
const DocumentOption on_stdout{true, ""};

doctor::Examination run_doctor(const Machine& machine, bool is_strict) {
  static const doctor::Examination healthy = [] {
    auto tree = std::make_shared<MemoryTree>();
    HealthyMachine add(tree.get());
    const auto view = MachineView::over(tree, false);
    return examine_all(Machine(*view), false);
  }();
  const doctor::Examination examination = examine_all(machine, is_strict);
  check_examination(examination, is_strict);
  const doctor::Verdicts verdicts = doctor::compute_verdicts(examination, machine);
  const doctor::Terminal terminal(false);
  for (const bool is_verbose : {false, true})
    check_text(printed([&] { print_examination_text(examination, machine, &verdicts, terminal, is_verbose); }));
  check_text(printed([&] { print_examination_short(examination, machine, &verdicts, terminal); }));
  check_json(printed([&] { write_examination_json(on_stdout, examination, &verdicts); }));
  check_metrics(printed([&] { print_examination_prom(examination, machine); }));
  check_script(doctor::write_script(examination, machine));
  for (const bool is_json : {false, true}) {
    const auto text =
        printed([&] { (void)doctor::print_difference(healthy, examination, is_json ? on_stdout : DocumentOption()); });
    is_json ? check_json(text) : check_text(text);
  }
  printed([&] { FUZZ_CHECK(doctor::print_difference(examination, examination, DocumentOption()) == ExitCode::ok); });
  return examination;
}

void run_topo(const Machine& machine) {
  const TopologyFacts facts = read_topology(machine.view, "x", machine.probe.nvml);
  check_text(printed([&] { topo::print_text(facts, facts.viewers()); }));
  check_json(printed([&] { topo::write_topology_json(on_stdout, facts, ExitCode::ok); }));
  check_text(printed([&] { topo::print_dot(facts); }));
  check_text(printed([&] { topo::print_svg(facts); }));
  check_text(printed([&] {
    try {
      topo::print_nccl_xml(facts, machine.view, machine.probe.nvml);
    } catch (const Failure& failure) {  // a place is unknown
      FUZZ_CHECK(failure.code() == ExitCode::unreadable);
    }
  }));
}

void run_env(const Machine& machine, const doctor::Examination& examination, unsigned choice) {
  std::vector<env::Judged> judged;
  for (const doctor::CheckResult& result : examination.results)
    for (const doctor::Finding& finding : result.findings)
      if (std::string(result.check->group) == "environment") judged.push_back({result.check->id, finding});
  const Environment environment(machine.view);
  const Libraries libraries(machine.view);
  const RankLayout layout =
      lay_out(machine.view, links_of(machine.probe.nvml), recorded_cpus(machine.view), (choice & 1) != 0);
  env::UserOptions user_options;
  user_options.is_strict = (choice & 2) != 0;
  user_options.fabric = (choice & 4) != 0 ? "rail" : (choice & 8) != 0 ? "ecmp" : "";
  const env::Facts facts = env::gather(machine, environment, libraries, layout, user_options);
  for (const CommLibrary library : all_libraries) {
    const env::Document document{"x", env::propose({library}, facts), judged};
    check_json(printed([&] { env::write_env_json(on_stdout, document); }));
    for (const std::string& name : env::format_names()) {
      check_text(printed([&] {
        try {
          env::print_as(name, document);
        } catch (const Failure& failure) {  // a file of another library
          FUZZ_CHECK(failure.code() == ExitCode::usage);
        }
      }));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  InputReader input(data, size);
  const unsigned choice = input.byte();
  auto tree = std::make_shared<MemoryTree>();
  HealthyMachine add(tree.get());
  if ((choice & 32) != 0) add_faults(tree.get());
  if ((choice & 96) == 96) add_hostile_names(tree.get(), &input);
  MachineDamage(tree.get(), HealthyMachine::absent_paths()).apply(input);
  // is_live with level quick: only the view is read.
  const auto view = MachineView::over(tree, (choice & 0xc0) == 0xc0);
  if (!view.has_value()) return 0;  // the list of recorded facts was damaged
  const Machine machine(*view, Level::quick);
  const doctor::Examination examination = run_doctor(machine, (choice & 16) != 0);
  run_topo(machine);
  run_env(machine, examination, choice);
  FUZZ_CHECK(tree->calls() <= most_calls && tree->bytes_returned() <= most_bytes);
  return 0;
}

/// The healthy machine, and a few damages of every kind in every kind of file.
std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  std::vector<Bytes> all = {{}, {0}, {32}};
  for (std::size_t i = 0; i < hostile_texts().size(); ++i) all.push_back({96, 0, static_cast<std::uint8_t>(i)});
  std::mt19937_64 random(20261122);
  for (unsigned i = 0; i < 120; ++i) {
    Bytes& bytes = all.emplace_back();
    for (std::uint64_t left = 4 + random() % 100; left > 0; --left)
      bytes.push_back(static_cast<std::uint8_t>(random()));
  }
  return all;
}
