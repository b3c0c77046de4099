// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "cli/interface/json_document.hpp"
#include "diag/info/info.hpp"

namespace gdrkit::diag::info {
namespace {

cli::Json backend_json(const BackendInfo& backend) {
  return {{"name", backend.name},           {"summary", backend.summary},
          {"is_usable", backend.is_usable}, {"is_automatic", backend.is_automatic},
          {"errno", backend.error},         {"reason", backend.reason}};
}

cli::Json copy_kernel_json(const CopyKernelInfo& kernel) {
  return {{"name", kernel.name},
          {"is_usable", kernel.is_usable},
          {"is_chosen_to_device", kernel.stores},
          {"is_chosen_from_device", kernel.loads}};
}

cli::Json gpu_json(const GpuInfo& gpu) {
  return {{"pci_address", platform::to_string(gpu.gpu.address)},
          {"name", gpu.name},
          {"bar1_size_bytes", gpu.gpu.bar1_size_bytes},
          {"numa_node", gpu.gpu.numa_node},
          {"driver", gpu.gpu.driver}};
}

}  // namespace

void write_info_json(const cli::DocumentOption& option, const Info& info) {
  cli::Json document = cli::json_head("info", info.machine, info.chosen_backend, info.is_emulated);
  document["why_none"] = info.why_none;
  document["backends"] = cli::json_list(info.backends, backend_json);
  document["copy_kernels"] = cli::json_list(info.copy_kernels, copy_kernel_json);
  document["gpus"] = cli::json_list(info.gpus, gpu_json);
  if (info.driver) {
    document["nvidia_driver"] = {{"version", info.driver->version}, {"is_open_flavour", info.driver->is_open_flavour}};
  } else {
    document["nvidia_driver"] = nullptr;
  }
  document["settings"] = cli::Json::object();
  for (const auto& [name, value] : info.settings) document["settings"][name] = value;
  document["missing"] = info.missing;
  document["ok"] = !info.chosen_backend.empty();
  cli::write_json(option, document);
}

}  // namespace gdrkit::diag::info
