// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// info: what this machine offers, and what it lacks.
#include "diag/info/info.hpp"

#include <cstdio>

#include "base/settings.hpp"
#include "cli/common/common_options.hpp"
#include "cli/common/device_choice.hpp"
#include "cli/common/wrapped_text.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::tools {
namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes == 0) return "unknown";
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  if (bytes % gib == 0) return format("%llu GiB", static_cast<unsigned long long>(bytes / gib));
  return format("%llu MiB", static_cast<unsigned long long>(bytes >> 20));
}

void print_backends(const Info& info) {
  std::printf("\nbackends, in the order they are tried\n");
  for (const BackendInfo& backend : info.backends) {
    const char* state = !backend.is_usable     ? "not usable"
                        : backend.is_automatic ? "usable"
                                               : "usable, but only on request";
    std::printf("  %-9s %s\n            %s\n", backend.name.c_str(), state, backend.summary.c_str());
    if (!backend.is_usable) std::printf("%s\n", fitted("            reason: " + backend.reason, 14).c_str());
  }
}

void print_copy_kernels(const Info& info) {
  std::printf("\ncopy kernels, best first\n");
  for (const CopyKernelInfo& kernel : info.copy_kernels) {
    std::printf("  %-9s %s%s%s\n", kernel.name.c_str(), kernel.is_usable ? "usable" : "not on this CPU",
                kernel.stores ? ", chosen for copies to the device" : "",
                kernel.loads ? ", chosen for copies from the device" : "");
  }
}

void print_gpus(const Info& info) {
  std::printf("\nGPUs\n");
  for (const GpuInfo& gpu : info.gpus) {
    std::printf("  %s  %s, BAR1 %s, NUMA node %d, driver %s\n", platform::to_string(gpu.gpu.address).c_str(),
                gpu.name.c_str(), size_text(gpu.gpu.bar1_size_bytes).c_str(), gpu.gpu.numa_node,
                gpu.gpu.driver.empty() ? "none" : gpu.gpu.driver.c_str());
  }
  if (info.gpus.empty()) std::printf("  none\n");
  if (info.driver) {
    std::printf("  NVIDIA kernel module %s%s\n", info.driver->version.c_str(),
                info.driver->is_open_flavour ? " (open flavour)" : "");
  }
}

void print_text(const Info& info, bool quiet) {
  if (info.is_emulated) {
    std::printf("NOTE: the backend 'emulated' was requested; it says nothing about hardware\n");
  }
  std::printf("gdrkit %s, backend %s\n", gdrkit_version(),
              info.chosen_backend.empty() ? "none: no backend can run here" : info.chosen_backend.c_str());
  if (!quiet)
    std::printf("%s, %d CPUs, system %s\n", info.machine.cpu_model.c_str(), info.machine.cpu_count,
                info.machine.os_release.c_str());
  if (!info.why_none.empty()) std::printf("%s\n", fitted(info.why_none, 2).c_str());
  if (!info.why_none.empty() && info.gpus.empty()) {
    std::printf("without a GPU the tools that measure and test use the emulated device, and print that they do\n");
  }
  print_backends(info);
  if (quiet) return;
  print_copy_kernels(info);
  print_gpus(info);
  std::printf("\nsettings in the environment\n");
  for (const auto& [name, value] : info.settings) std::printf("  %s=%s\n", name.c_str(), value.c_str());
  if (info.settings.empty()) std::printf("  none\n");
  if (!info.missing.empty()) {
    std::printf("\nmissing\n");
    for (const std::string& sentence : info.missing) std::printf("%s\n", fitted("  " + sentence, 4).c_str());
  }
}

}  // namespace

ExitCode run_info(Front front, int argc, char** argv) {
  CommonOptions options;
  CommandLine line;
  line.name = "info";
  line.summary =
      "What this machine offers: backends (and why some cannot run), copy kernels, GPUs, settings, what is missing.";
  line.example = "gdrkit info --json";
  add_common_options(&line, &options);
  if (const auto ended = parse(line, front, argc, argv)) return *ended;
  apply(options);
  if (const std::string forced = base::read_settings().backend; !forced.empty()) check_backend(forced);
  const Info info = gather_info();
  if (options.json.is_given) write_info_json(options.json, info);
  if (!options.json.is_on_stdout()) print_text(info, options.quiet);
  return info.chosen_backend.empty() ? ExitCode::cannot_run : ExitCode::ok;
}

}  // namespace gdrkit::tools
