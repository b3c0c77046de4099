// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// bind: binds the process near its GPU, then execs the program.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/number.hpp"
#include "cli/interface/command_line.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/json_document.hpp"
#include "cli/interface/shell_word.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "diag/bind/gpu_choice.hpp"
#include "diag/machine/environment.hpp"
#include "diag/machine/machine.hpp"
#include "diag/machine/rank_layout.hpp"
#include "diag/machine/topology_facts.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/facts/number_list.hpp"
#include "platform/host/placement.hpp"

namespace gdrkit::diag::bind {
namespace {

// Exit codes that shells use for programs they cannot start.
constexpr int cannot_start = 126;
constexpr int not_found = 127;

struct Options {
  std::string gpu;
  std::string root = "/";
  bool reserves = false;
  bool wraps = false;
  bool keeps_environment = false;
  bool prints = false;
  bool is_dry = false;
  bool may_stay_unbound = false;
  cli::DocumentOption json;
};

struct Binding {
  const std::string& root;
  const RankLayout& layout;
  const RankPlace& place;
  std::string chosen_by;   ///< "LOCAL_RANK=3", "--gpu"
  std::string ucx_device;  ///< the value of UCX_NET_DEVICES; "": not set
  const std::vector<std::string>& program;
};

std::optional<std::string> find_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<NamedGpu> named_gpus(const MachineView& view, const RankLayout& layout) {
  std::vector<NamedGpu> gpus;
  for (const RankPlace& place : layout.ranks) {
    const auto& function = layout.tree.gpus[place.gpu].function;
    const auto text = view.text("/proc/driver/nvidia/gpus/" + function.name + "/information");
    NamedGpu gpu{
        labelled(text, "GPU UUID").value, cli::format("%lld", static_cast<long long>(function.device.value)), {}};
    const std::string minor = labelled(text, "Device Minor").value;
    int number = 0;
    if (base::parse_number(minor, &number)) gpu.minor = number;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

GpuChoice choose_by_rank(const Options& options, const std::vector<NamedGpu>& gpus, const UsableGpus& usable) {
  const LocalRank rank = find_local_rank(find_variable);
  for (const std::string& other : rank.others) {
    std::fprintf(stderr, "gdrkit bind: note: using %s=%zu, not %s\n", rank.variable.c_str(), rank.value,
                 cli::printable(other).c_str());
  }
  return choose_gpu(find_variable, rank, gpus, usable, options.wraps);
}

GpuChoice choose(const Options& options, const MachineView& view, const RankLayout& layout) {
  if (layout.ranks.empty()) {
    cli::cannot_run(layout.tree.pci_outcome == Outcome::found
                        ? "gdrkit bind: cannot bind the process: found no NVIDIA GPU among " +
                              cli::counted(layout.tree.pci_count, "PCI device")
                        : "gdrkit bind: cannot determine whether this machine has a GPU: " + layout.tree.pci_reason);
  }
  const auto gpus = named_gpus(view, layout);
  const UsableGpus usable =
      view.is_live()
          ? find_usable_gpus(gpus, true, can_open_node)
          : find_usable_gpus(gpus, false, [&](const std::string& path) { return view.node(path).is_found(); });
  if (options.gpu.empty()) return choose_by_rank(options, gpus, usable);
  char* end = nullptr;
  const unsigned long number = std::strtoul(options.gpu.c_str(), &end, 10);
  if (options.gpu.find_first_not_of("0123456789") != std::string::npos || number >= layout.ranks.size()) {
    cli::reject(cli::format("gdrkit bind: invalid --gpu %s: this machine has %s, numbered from 0 in PCI order",
                            options.gpu.c_str(), cli::counted(layout.ranks.size(), "GPU").c_str()));
  }
  if (usable.is_proven && std::ranges::find(usable.gpus, number) == usable.gpus.end()) {
    cli::reject(
        cli::format("gdrkit bind: invalid --gpu %s: this process can open only these GPUs (numbered in PCI order): %s",
                    options.gpu.c_str(), platform::to_list_text({usable.gpus.begin(), usable.gpus.end()}).c_str()));
  }
  return {number, "--gpu"};
}

/// "mlx5_0:1" if UCX in the program should use only this adapter.
std::string ucx_device(const Options& options, const MachineView& view, const RankLayout& layout,
                       const RankPlace& place) {
  using topology::PathClass;
  const bool is_near =
      place.nearness == PathClass::pix || place.nearness == PathClass::pxb || place.nearness == PathClass::chip_host;
  if (options.keeps_environment || !place.adapter || !place.is_only_near || !is_near) return {};
  if (find_variable("UCX_NET_DEVICES") || Environment(view).find("UCX_NET_DEVICES") != nullptr) return {};
  return layout.adapters[*place.adapter].device();
}

void print_place(std::FILE* out, const Binding& binding) {
  const RankLayout& layout = binding.layout;
  const RankPlace& place = binding.place;
  const auto& gpu = layout.tree.gpus[place.gpu];
  std::fprintf(out, "gpu      %s %s, by %s\n", cli::printable(gpu.name).c_str(), gpu.function.name.c_str(),
               binding.chosen_by.c_str());
  std::fprintf(out, "cpus     %s\n", platform::to_list_text(place.cpus).c_str());
  if (!place.reserved.empty()) std::fprintf(out, "free     %s\n", platform::to_list_text(place.reserved).c_str());
  std::fprintf(out, "memory   %s\n",
               place.node < 0 ? "not bound: the machine reports no NUMA node for the GPU"
                              : ("node " + std::to_string(place.node)).c_str());
  if (place.adapter) {
    std::fprintf(out, "adapter  %s, %s\n", cli::printable(layout.adapters[*place.adapter].device()).c_str(),
                 topology::name_of(place.nearness));
  } else {
    std::fprintf(out, "adapter  none: %s\n", cli::printable(layout.matching.gpus[place.gpu].why).c_str());
  }
  if (!binding.ucx_device.empty()) {
    std::fprintf(out, "set      UCX_NET_DEVICES=%s\n", cli::printable(binding.ucx_device).c_str());
  }
  for (const std::string& note : place.notes) std::fprintf(out, "note     %s\n", cli::printable(note).c_str());
  const std::string line = cli::joined(binding.program, " ", cli::shell_word);
  if (!line.empty()) std::fprintf(out, "program  %s\n", cli::printable(line).c_str());
}

/// Schema gdrkit.bind/1: diag/bind/README.md.
void write_bind_json(const cli::DocumentOption& option, const Binding& binding) {
  const RankPlace& place = binding.place;
  const auto& gpu = binding.layout.tree.gpus[place.gpu];
  cli::Json json = {{"schema", "gdrkit.bind/1"},
                    {"version", gdrkit_version()},
                    {"root", binding.root},
                    {"gpu", gpu.name},
                    {"pci_address", gpu.function.name},
                    {"chosen_by", binding.chosen_by},
                    {"cpus", platform::to_list_text(place.cpus)},
                    {"reserved", platform::to_list_text(place.reserved)}};
  json["memory_node"] = place.node < 0 ? cli::Json(nullptr) : cli::Json(place.node);
  json["adapter"] = place.adapter ? cli::Json(binding.layout.adapters[*place.adapter].device()) : cli::Json(nullptr);
  json["nearness"] = topology::name_of(place.nearness);
  json["why_no_adapter"] = place.adapter ? "" : binding.layout.matching.gpus[place.gpu].why;
  json["set"] = cli::Json::object();
  if (!binding.ucx_device.empty()) json["set"]["UCX_NET_DEVICES"] = binding.ucx_device;
  json["notes"] = place.notes;
  json["program"] = binding.program;
  cli::write_json(option, json);
}

/// Throws Failure(failed) if the process cannot be bound. Binding memory is optional, since containers often forbid the
/// call.
void bind_process(const MachineView& view, const RankPlace& place) {
  auto& calls = platform::real_placement_calls();
  if (const int error = calls.bind_thread(place.cpus); error < 0) {
    cli::fail(cli::format("gdrkit bind: cannot bind the process to CPUs %s: %s",
                          platform::to_list_text(place.cpus).c_str(), std::strerror(-error)));
  }
  // With one node the call has no effect. Skipping it avoids a note in containers that forbid it.
  if (place.node < 0 || view.line("/sys/devices/system/node/online").value == "0") return;
  if (const int error = calls.bind_memory(place.node); error < 0) {
    std::fprintf(stderr,
                 "gdrkit bind: note: cannot bind memory to NUMA node %d (%s); Linux places each page near the CPU that "
                 "first touches it\n",
                 place.node, std::strerror(-error));
  }
}

cli::ExitCode start(std::vector<std::string>* program) {
  const std::vector<char*> words = cli::pointers_to(*program);
  std::fflush(nullptr);
  ::execvp(words.front(), words.data());
  const int error = errno;
  std::fprintf(stderr, "gdrkit bind: %s: %s\n", cli::printable(words.front()).c_str(), std::strerror(error));
  return static_cast<cli::ExitCode>(error == ENOENT ? not_found : cannot_start);
}

/// CPUs that the process may use; for --dry-run on a recording, the recorded CPUs.
std::optional<std::vector<int>> allowed_cpus(const Options& options, const MachineView& view) {
  if (options.is_dry && !view.is_live()) return recorded_cpus(view);
  std::vector<int> cpus;
  if (const int error = platform::real_placement_calls().allowed_cpus(&cpus); error < 0) {
    cli::fail(cli::format("gdrkit bind: cannot read the CPUs that this process may use: %s", std::strerror(-error)));
  }
  return cpus;
}

/// Returns a value if only the place had to be printed.
std::optional<cli::ExitCode> bind_near_gpu(const Options& options, const std::vector<std::string>& program) {
  const MachineView view = open_view(options.root);
  const RankLayout layout =
      lay_out(view, links_of(gather_probe(view, Level::quick).nvml), allowed_cpus(options, view), options.reserves);
  const GpuChoice chosen = choose(options, view, layout);
  const RankPlace& place = layout.ranks[chosen.gpu];
  if (place.cpus.empty())
    cli::fail("gdrkit bind: cannot bind the process: " +
              (place.notes.empty() ? std::string("no CPU is left for the process") : place.notes.back()));
  const Binding binding{options.root, layout, place, chosen.why, ucx_device(options, view, layout, place), program};
  if (options.json.is_given) write_bind_json(options.json, binding);
  if ((options.is_dry && !options.json.is_on_stdout()) || (options.prints && !options.is_dry)) {
    print_place(options.is_dry ? stdout : stderr, binding);
  }
  if (options.is_dry) return cli::ExitCode::ok;
  bind_process(view, place);
  if (!binding.ucx_device.empty() && ::setenv("UCX_NET_DEVICES", binding.ucx_device.c_str(), 0) != 0) {
    cli::fail("gdrkit bind: cannot set UCX_NET_DEVICES: out of memory");
  }
  return std::nullopt;
}

cli::ExitCode run(const Options& options, std::vector<std::string>* program) {
  if (program->empty() && !options.is_dry)
    cli::reject("gdrkit bind: the program is missing; write it after --, for example: gdrkit bind -- ./app");
  if (options.json.is_on_stdout() && !options.is_dry)
    cli::reject(
        "gdrkit bind: cannot write JSON to standard output: the program uses standard output; use --json=FILE or "
        "--dry-run");
  try {
    if (const auto printed = bind_near_gpu(options, *program)) return *printed;
  } catch (const cli::Failure& failure) {
    if (!options.may_stay_unbound || options.is_dry) throw;
    std::fprintf(stderr, "%s; the program starts unbound\n", failure.what());
  }
  return start(program);
}

}  // namespace

cli::ExitCode run_bind(cli::Front front, int argc, char** argv) {
  // Arguments after -- belong to the program, even if they look like our options.
  int own = 0;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  std::vector<std::string> program(argv + std::min(own + 1, argc), argv + argc);
  Options options;
  std::vector<std::string> words;
  cli::CommandLine line;
  line.name = "bind";
  line.uses_device = false;
  line.summary = "Binds the process to the CPUs and the memory near its GPU, then execs the program that follows --.";
  line.example =
      "gdrkit bind --gpu 3 --dry-run\n  mpirun -np 8 gdrkit bind -- ./app\n  srun gdrkit bind --reserve-irq -- ./app";
  line.exit_codes =
      "the program's; 1 no usable CPU near the GPU, 2 wrong usage or unknown rank, 4 --root is not a recording, 77 no "
      "GPU, 126 cannot start the program, 127 program not found";
  line.options = {
      {'\0', "gpu", "N", &options.gpu, "GPU in PCI order (default: by local rank)", false},
      {'\0', "reserve-irq", "", &options.reserves, "keep the first core of each slice free for interrupts", false},
      {'\0', "wrap", "", &options.wraps, "wrap around if there are more ranks than GPUs", false},
      {'\0', "or-unbound", "", &options.may_stay_unbound, "if binding fails, print the reason and start unbound",
       false},
      {'\0', "no-env", "", &options.keeps_environment, "do not set variables for the program", false},
      {'\0', "print", "", &options.prints, "print the chosen GPU and CPUs on stderr before the start", false},
      {'\0', "dry-run", "", &options.is_dry, "print the chosen GPU and CPUs; do not start the program", false},
      {'\0', "root", "RECORDING", &options.root, "read a recording (directory, archive, - for stdin) instead", false},
      cli::json_option(&options.json, "diag/bind/README.md"),
  };
  line.operands = {&words, "PROGRAM ARGUMENTS", "after --: the program to start"};
  if (const auto ended = cli::parse(line, front, own, argv)) return *ended;
  if (!words.empty())
    cli::reject(cli::format("gdrkit bind: unexpected '%s' before --; write gdrkit bind -- %s", words[0].c_str(),
                            words[0].c_str()));
  return run(options, &program);
}

}  // namespace gdrkit::diag::bind
