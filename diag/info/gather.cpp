// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/settings.hpp"
#include "cli/interface/exit_code.hpp"
#include "diag/info/info.hpp"
#include "gdrkit/gdrkit.h"
#include "platform/device/device.hpp"

namespace gdrkit::diag::info {
namespace {

std::vector<BackendInfo> gather_backends() {
  std::vector<BackendInfo> backends;
  for (unsigned index = 0;; ++index) {
    gdrkit_backend_report report{};
    report.struct_size = sizeof(report);
    if (gdrkit_probe_backend(index, &report) != 0) return backends;
    backends.push_back({report.name, report.summary, report.is_usable != 0, report.is_automatic != 0, -report.error,
                        report.is_usable != 0 ? "" : report.reason});
  }
}

gdrkit_context_info context_info(const gdrkit_open_options* options, int* result) {
  gdrkit_context_info info{};
  info.struct_size = sizeof(info);
  gdrkit_context_t context{};
  *result = gdrkit_open(options, &context);
  if (*result != 0) return info;
  *result = gdrkit_get_context_info(context, &info);
  (void)gdrkit_close(context);
  return info;
}

/// The choice depends only on the CPU and the mapping type, so the emulated device's choice is valid for every backend.
std::vector<CopyKernelInfo> gather_copy_kernels() {
  gdrkit_open_options options{};
  options.struct_size = sizeof(options);
  options.backend = "emulated";
  int result = 0;
  const gdrkit_context_info chosen = context_info(&options, &result);
  std::vector<CopyKernelInfo> kernels;
  int is_usable = 0;
  for (unsigned index = 0; const char* name = gdrkit_copy_kernel_name(index, &is_usable); ++index) {
    const auto is = [&](const char* other) { return result == 0 && std::strcmp(name, other) == 0; };
    kernels.push_back({name, is_usable != 0, is(chosen.store_kernel_name), is(chosen.load_kernel_name)});
  }
  return kernels;
}

std::vector<GpuInfo> gather_gpus() {
  std::vector<GpuInfo> gpus;
  if (const auto found = platform::list_nvidia_gpus("/sys")) {
    for (const platform::NvidiaGpu& gpu : *found)
      gpus.push_back({gpu, platform::nvidia_gpu_name("/proc", gpu.address)});
  }
  return gpus;
}

std::vector<std::pair<std::string, std::string>> gather_settings() {
  const base::Settings settings = base::read_settings();
  std::vector<std::pair<std::string, std::string>> set;
  if (!settings.backend.empty()) set.emplace_back("GDRKIT_BACKEND", settings.backend);
  if (!settings.copy_kernel.empty()) set.emplace_back("GDRKIT_COPY_KERNEL", settings.copy_kernel);
  if (!settings.engine.empty()) set.emplace_back("GDRKIT_ENGINE", settings.engine);
  if (!settings.dropin_engine.empty()) set.emplace_back("GDRKIT_DROPIN_ENGINE", settings.dropin_engine);
  if (!settings.emulated_devices.empty()) set.emplace_back("GDRKIT_EMULATED_DEVICES", settings.emulated_devices);
  if (settings.allow_unreviewed_driver) set.emplace_back("GDRKIT_ALLOW_UNREVIEWED_DRIVER", "1");
  if (settings.allow_ipc_handle) set.emplace_back("GDRKIT_ALLOW_IPC_HANDLE", "1");
  if (settings.log_enabled) {
    set.emplace_back("GDRCOPY_ENABLE_LOGGING", "set");
    set.emplace_back("GDRCOPY_LOG_LEVEL", std::to_string(settings.log_level));
  }
  if (settings.force_dmabuf) set.emplace_back("GDRCOPY_USE_DMABUF_MMAP", "1");
  for (const char* name : {"GDRKIT_SHMEM_HEAP", "GDRKIT_SHMEM_HEAP_MAX", "NVSHMEM_SYMMETRIC_SIZE"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') set.emplace_back(name, value);
  }
  return set;
}

void check_node(const char* path, std::vector<std::string>* missing) {
  if (::access(path, R_OK | W_OK) == 0) return;
  missing->push_back(cli::format("%s: %s", path, std::strerror(errno)));
}

std::vector<std::string> gather_missing(const Info& info) {
  std::vector<std::string> missing;
  if (info.gpus.empty()) missing.emplace_back("no NVIDIA GPU among the PCI devices");
  if (!info.driver) missing.emplace_back("no NVIDIA kernel module (nothing under /proc/driver/nvidia)");
  check_node("/dev/nvidiactl", &missing);
  check_node("/dev/nvidia0", &missing);
  if (const auto count = platform::cuda_device_count(); !count.has_value()) {
    missing.push_back(std::string("CUDA: ") + count.error().text());
  } else if (*count == 0) {
    missing.emplace_back("CUDA shows this process no device");
  }
  return missing;
}

/// Without CUDA some tests are impossible. Repeats them for backends that may be chosen but cannot run.
void repeat_with_cuda(std::vector<BackendInfo>* backends) {
  const bool is_any_unusable = std::ranges::any_of(
      *backends, [](const BackendInfo& backend) { return backend.is_automatic && !backend.is_usable; });
  if (!is_any_unusable) return;
  const auto device = platform::open_cuda_device(0);
  if (!device) return;
  const std::vector<BackendInfo> again = gather_backends();
  for (std::size_t i = 0; i < backends->size() && i < again.size(); ++i) {
    if (!(*backends)[i].is_usable) (*backends)[i] = again[i];
  }
}

}  // namespace

Info gather_info() {
  Info info;
  int result = 0;
  const gdrkit_context_info chosen = context_info(nullptr, &result);
  if (result == 0) {
    info.chosen_backend = chosen.backend_name;
    info.is_emulated = chosen.is_emulated != 0;
  } else {
    info.why_none = gdrkit_last_error();
  }
  info.backends = gather_backends();
  info.copy_kernels = gather_copy_kernels();
  info.gpus = gather_gpus();
  if (auto driver = platform::read_nvidia_driver("/proc")) info.driver = *driver;
  info.settings = gather_settings();
  info.machine = platform::describe_machine(nullptr);
  if (!info.gpus.empty()) {
    info.machine.gpu_name = info.gpus.front().name;
    info.machine.gpu_pci_address = platform::to_string(info.gpus.front().gpu.address);
  }
  if (info.driver) info.machine.driver_version = "NVIDIA driver " + info.driver->version;
  if (info.driver && !info.gpus.empty()) repeat_with_cuda(&info.backends);
  // Runs last: initializing CUDA must not change what the backends report for a process without it.
  if (info.chosen_backend.empty() || info.is_emulated) info.missing = gather_missing(info);
  return info;
}

}  // namespace gdrkit::diag::info
