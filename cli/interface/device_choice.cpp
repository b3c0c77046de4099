// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/device_choice.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/settings.hpp"
#include "cli/interface/common_options.hpp"
#include "cli/interface/suggestion.hpp"
#include "cli/interface/wrapped_text.hpp"
#include "gdrkit/gdrkit.h"

namespace gdrkit::cli {
namespace {

constexpr int most_device_nodes = 64;

constexpr const char* emulated = "emulated";
constexpr const char* on_emulated =
    "NOTE: running on the emulated device, whose figures do not describe a GPU: GDRKIT_BACKEND is 'emulated'";
constexpr const char* how_to_emulate =
    "; set GDRKIT_BACKEND=emulated, or pass --emulated to gdrkit, to run on the emulated device";

std::string find_device_node() {
  for (int number = 0; number < most_device_nodes; ++number) {
    std::string path = format("/dev/nvidia%d", number);
    if (::access(path.c_str(), F_OK) == 0) return path;
  }
  return {};
}

}  // namespace

void check_backend(const std::string& requested) {
  std::vector<std::string> names;
  gdrkit_backend_report report{};
  report.struct_size = sizeof(report);
  for (unsigned index = 0; gdrkit_probe_backend(index, &report) == 0; ++index) {
    if (requested == report.name) return;
    names.emplace_back(report.name);
    report.struct_size = sizeof(report);
  }
  reject("unknown backend '" + requested + "' (GDRKIT_BACKEND)" + did_you_mean(requested, names) + "; use one of " +
         joined(names, ", "));
}

GpuFacts find_gpus() {
  GpuFacts facts;
  const base::Settings settings = base::read_settings();
  // Otherwise the drop-in library would only report that it cannot be opened.
  if (!settings.backend.empty()) check_backend(settings.backend);
  if (!settings.copy_kernel.empty()) check_copy_kernel(settings.copy_kernel);
  facts.forced_backend = settings.backend;
  if (facts.forced_backend == emulated) return facts;
  const auto count = platform::cuda_device_count();
  if (count.has_value()) {
    facts.cuda_devices = *count;
    if (*count == 0) facts.cuda_failure = "CUDA finds no device";
  } else {
    facts.cuda_failure = count.error().text();
  }
  if (facts.cuda_devices == 0) facts.device_node = find_device_node();
  return facts;
}

DeviceChoice choose_device(const GpuFacts& facts) {
  if (facts.forced_backend == emulated) return {true, on_emulated};
  if (facts.cuda_devices > 0) return {};
  const std::string gpu = facts.device_node.empty() ? "a GPU" : "the GPU " + facts.device_node;
  const std::string backend = facts.forced_backend.empty() ? "" : " with the backend '" + facts.forced_backend + "'";
  const std::string cause =
      facts.device_node.empty() ? "no GPU was found (" + facts.cuda_failure + ")" : facts.cuda_failure;
  cannot_run("cannot use " + gpu + backend + ": " + cause + how_to_emulate);
}

std::unique_ptr<platform::Device> open_device(const DeviceChoice& choice, int ordinal) {
  if (choice.is_emulated) {
    const auto count = platform::emulated_device_count();
    if (!count.has_value()) reject(count.error().text());
  }
  auto device = choice.is_emulated ? platform::open_emulated_device(ordinal) : platform::open_cuda_device(ordinal);
  if (!device.has_value()) {
    const int code = device.error().vendor_code;
    const std::string name = code == 0 ? std::string() : format("CUDA error: %s\n", platform::cuda_result_name(code));
    const std::string text = device.error().text();
    const bool has_operation = text.starts_with("cannot open");
    cannot_run(name + (has_operation ? "" : format("cannot open device %d: ", ordinal)) + text);
  }
  return std::move(*device);
}

void print_note(const DeviceChoice& choice, bool json) {
  if (choice.note.empty()) return;
  std::FILE* out = json ? stderr : stdout;
  std::fprintf(out, "%s\n", fitted(choice.note, 2).c_str());
  std::fflush(out);
}

std::string why_no_backend() {
  std::string reasons;
  gdrkit_backend_report report{};
  report.struct_size = sizeof(report);
  for (unsigned index = 0; gdrkit_probe_backend(index, &report) == 0; ++index) {
    if (report.is_usable != 0 && report.is_automatic != 0) return {};
    if (report.is_usable == 0) reasons += format("  backend %s: %s\n", report.name, report.reason);
    report.struct_size = sizeof(report);
  }
  return reasons;
}

}  // namespace gdrkit::cli
