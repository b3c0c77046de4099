// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "diag/machine/nvml_gather.hpp"
#include "diag/machine/vendor_text.hpp"
#include "platform/device/cuda_calls.hpp"
#include "platform/device/device.hpp"
#include "platform/facts/pci_address.hpp"

namespace gdrkit::diag {
namespace {

using topology::Fact;
using topology::Outcome;

// Numbers of CUdevice_attribute, which CUDA's driver API reference lists.
constexpr int rdma_with_vmm = 110;
constexpr int rdma = 116;
constexpr int rdma_flush_options = 117;
constexpr int rdma_writes_ordering = 118;
constexpr int dma_buf = 124;

/// Describes a failed CUDA call: function and error name.
std::string failure(const char* function, int result) {
  return std::string(function) + ": " + platform::cuda_result_name(result) + " (" + std::to_string(result) + ")";
}

template <class T>
void set_unreadable(const std::string& reason, Fact<T>* fact) {
  fact->outcome = Outcome::unreadable;
  fact->reason = reason;
}

void set_none(const std::string& reason, NvmlGpu* gpu) {
  set_unreadable(reason, &gpu->cuda_rdma);
  set_unreadable(reason, &gpu->cuda_rdma_vmm);
  set_unreadable(reason, &gpu->cuda_dmabuf);
  set_unreadable(reason, &gpu->cuda_rdma_flush);
  set_unreadable(reason, &gpu->cuda_rdma_ordering);
}

/// Older drivers reject the numbers of newer attributes. The fact is then unreadable, not false.
Fact<std::int64_t> attribute(const platform::CudaCalls& cuda, int device, int which) {
  if (cuda.device_get_attribute == nullptr) {
    return {Outcome::unreadable, 0, "libcuda has no function cuDeviceGetAttribute"};
  }
  int value = 0;
  if (const int result = cuda.device_get_attribute(&value, which, device); result != 0) {
    const std::string which_text = " for attribute " + std::to_string(which);
    return {Outcome::unreadable, 0, failure("cuDeviceGetAttribute", result) + which_text};
  }
  if (value < 0) return {Outcome::malformed, 0, "cuDeviceGetAttribute: returned " + std::to_string(value)};
  return topology::found<std::int64_t>(value);
}

Fact<bool> truth(const platform::CudaCalls& cuda, int device, int which) {
  const auto number = attribute(cuda, device, which);
  return {number.outcome, number.value != 0, number.reason};
}

void query_device(const platform::CudaCalls& cuda, int ordinal, NvmlFacts* facts) {
  int device = 0;
  std::array<char, 32> text{};
  if (cuda.device_get(&device, ordinal) != 0) return;
  if (cuda.device_get_pci_bus_id(text.data(), static_cast<int>(text.size()), device) != 0) return;
  const auto address = platform::parse_pci_address(printable(text.data(), text.size()));
  if (!address.has_value()) return;
  const std::string spelled = platform::to_string(*address);
  for (NvmlGpu& gpu : facts->gpus) {
    if (!gpu.address.is_found() || gpu.address.value != spelled) continue;
    gpu.cuda_rdma = truth(cuda, device, rdma);
    gpu.cuda_rdma_vmm = truth(cuda, device, rdma_with_vmm);
    gpu.cuda_dmabuf = truth(cuda, device, dma_buf);
    gpu.cuda_rdma_flush = attribute(cuda, device, rdma_flush_options);
    gpu.cuda_rdma_ordering = attribute(cuda, device, rdma_writes_ordering);
  }
}

}  // namespace

void set_no_cuda_facts(const std::string& reason, NvmlFacts* facts) {
  set_unreadable(reason, &facts->cuda_library_version);
  for (NvmlGpu& gpu : facts->gpus) set_none(reason, &gpu);
}

void add_cuda_facts(const platform::CudaCalls& cuda, NvmlFacts* facts) {
  set_no_cuda_facts("CUDA does not show this GPU to this process; check CUDA_VISIBLE_DEVICES", facts);
  int version = 0;
  if (const int result = cuda.driver_get_version(&version); result != 0 || version < 0) {
    set_unreadable(failure("cuDriverGetVersion", result), &facts->cuda_library_version);
  } else {
    facts->cuda_library_version = topology::found<std::int64_t>(version);
  }
  const auto set_all_none = [&](const std::string& reason) {
    for (NvmlGpu& gpu : facts->gpus) set_none(reason, &gpu);
  };
  if (const int result = cuda.init(0); result != 0) return set_all_none(failure("cuInit", result));
  int count = 0;
  if (const int result = cuda.device_get_count(&count); result != 0)
    return set_all_none(failure("cuDeviceGetCount", result));
  for (int ordinal = 0; ordinal < std::min<int>(count, most_nvml_gpus); ++ordinal) query_device(cuda, ordinal, facts);
}

}  // namespace gdrkit::diag
