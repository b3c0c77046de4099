// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/nvml_gather.hpp"

#include <algorithm>
#include <array>

#include "diag/machine/vendor_text.hpp"
#include "platform/facts/pci_address.hpp"
#include "platform/vendor/nvml_library.hpp"

namespace gdrkit::diag {
namespace {

using platform::NvmlCalls;
using topology::Fact;
using topology::Outcome;

constexpr unsigned most_links_without_a_count = 18;  // of Hopper and Blackwell; older GPUs have fewer
constexpr unsigned cpu_words = 64;                   // 4096 CPUs
constexpr std::uint32_t hidden_domain = 0x0fffffff;  // NVML's domain for a switch that the machine does not show

/// The function and result of one call.
struct CallResult {
  const char* function;
  int result;

  template <class T>
  [[nodiscard]] Fact<T> as(T value) const {
    if (result == platform::nvml_success) return topology::found(std::move(value));
    std::string reason = std::string(function) + ": " + platform::nvml_result_name(result);
    if (platform::nvml_result_name(result)[0] == 'a') reason += " (" + std::to_string(result) + ")";
    return {result == platform::nvml_not_supported ? Outcome::absent : Outcome::unreadable, {}, reason};
  }
  /// Enumerations, counts and sizes are never negative.
  template <class Number>
  [[nodiscard]] Fact<std::int64_t> number(Number value) const {
    if (result != platform::nvml_success || (value >= 0 && static_cast<std::uint64_t>(value) <= INT64_MAX)) {
      return as<std::int64_t>(static_cast<std::int64_t>(value));
    }
    return {Outcome::malformed, 0, std::string(function) + ": returned " + std::to_string(value)};
  }
};

template <class... Parameters, class... Arguments>
CallResult call_nvml(const char* name, int (*function)(Parameters...), Arguments... arguments) {
  return {name, function != nullptr ? function(arguments...) : platform::nvml_function_not_found};
}
#define CALL_NVML(member, symbol, ...) call_nvml(symbol, nvml.member __VA_OPT__(, ) __VA_ARGS__)

template <std::size_t size>
Fact<std::string> text_of(const CallResult& returned, const std::array<char, size>& text) {
  return returned.as(printable(text.data(), size));
}

/// One value by its field number; scope is the link if the field has one.
Fact<std::int64_t> field(const NvmlCalls& nvml, void* device, std::uint32_t id, unsigned scope) {
  platform::NvmlFieldValue value;
  value.field = id;
  value.scope = scope;
  CallResult returned = CALL_NVML(field_values, "nvmlDeviceGetFieldValues", device, 1, &value);
  if (returned.result == platform::nvml_success) returned.result = value.result;
  switch (value.value_type) {
    case platform::nvml_value_uint: return returned.number(static_cast<std::uint32_t>(value.value));
    case platform::nvml_value_sint: return returned.number(static_cast<std::int32_t>(value.value));
    case platform::nvml_value_ushort: return returned.number(static_cast<std::uint16_t>(value.value));
    case platform::nvml_value_sllong: return returned.number(static_cast<std::int64_t>(value.value));
    case platform::nvml_value_ulong:
    case platform::nvml_value_ullong: return returned.number(value.value);
    default: return returned.number(-1);  // a floating-point number where none is due
  }
}

std::string address_of(const platform::NvmlPciInfo& info) {
  const auto address = platform::parse_pci_address(printable(info.bus_id, sizeof info.bus_id));
  return address.has_value() && address->domain < hidden_domain ? platform::to_string(*address) : "";
}

Fact<std::string> remote_kind(const CallResult& returned, int kind) {
  constexpr const char* names[] = {"gpu", "cpu", "switch"};
  return returned.as(std::string(kind >= 0 && kind < 3 ? names[kind] : "unknown"));
}

NvmlLink query_link(const NvmlCalls& nvml, void* device, unsigned index, Fact<bool> is_active) {
  NvmlLink link;
  link.index = index;
  link.is_active = std::move(is_active);
  if (link.is_active.is_found() && !link.is_active.value) {
    const auto inactive = [](auto* fact) { fact->reason = "the link is not active"; };
    inactive(&link.remote);
    inactive(&link.remote_kind);
    inactive(&link.speed_mbps);
  } else {
    platform::NvmlPciInfo info;
    const CallResult remote = CALL_NVML(link_remote_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2", device, index, &info);
    link.remote = remote.as(address_of(info));
    int kind = 0;
    const CallResult type = CALL_NVML(link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType", device, index, &kind);
    link.remote_kind = remote_kind(type, kind);
    link.speed_mbps = field(nvml, device, platform::nvml_field_link_speed, index);
    if (!link.speed_mbps.is_found()) link.speed_mbps = field(nvml, device, platform::nvml_field_link_speed_common, 0);
  }
  unsigned can_p2p = 0;
  link.can_p2p =
      CALL_NVML(link_capability, "nvmlDeviceGetNvLinkCapability", device, index, platform::nvml_link_can_p2p, &can_p2p)
          .as(can_p2p != 0);
  return link;
}

void query_links(const NvmlCalls& nvml, void* device, NvmlGpu* gpu) {
  gpu->nvlink_count = field(nvml, device, platform::nvml_field_link_count, 0);
  const bool is_counted = gpu->nvlink_count.is_found();
  const auto count = is_counted
                         ? static_cast<unsigned>(std::min<std::int64_t>(gpu->nvlink_count.value, most_nvml_links))
                         : most_links_without_a_count;
  for (unsigned index = 0; index < count; ++index) {
    int active = 0;
    const CallResult returned = CALL_NVML(link_state, "nvmlDeviceGetNvLinkState", device, index, &active);
    Fact<bool> is_active = returned.as(active != 0);
    if (!is_active.is_found()) {
      if (const auto state = field(nvml, device, platform::nvml_field_link_state, index); state.is_found()) {
        is_active = CallResult{"", platform::nvml_success}.as(state.value != 0);
      }
    }
    // If NVML did not report the count, the first missing link ends the loop.
    if (!is_counted && !is_active.is_found()) {
      if (index > 0 || is_active.is_absent() || returned.result == platform::nvml_invalid_argument) break;
      return;
    }
    gpu->links.push_back(query_link(nvml, device, index, std::move(is_active)));
  }
  if (!is_counted) gpu->nvlink_count = CallResult{"", platform::nvml_success}.number(gpu->links.size());
}

void query_identity(const NvmlCalls& nvml, void* device, NvmlGpu* gpu) {
  platform::NvmlPciInfo info;
  const CallResult pci = CALL_NVML(pci_info, "nvmlDeviceGetPciInfo_v3", device, &info);
  gpu->address = pci.as(address_of(info));
  if (gpu->address.is_found() && gpu->address.value.empty()) {
    gpu->address.outcome = Outcome::malformed;
    gpu->address.reason = "nvmlDeviceGetPciInfo_v3: returned no PCI address";
  }
  std::array<char, 96> text{};
  gpu->name = text_of(CALL_NVML(name, "nvmlDeviceGetName", device, text.data(), unsigned{sizeof text}), text);
  text = {};
  gpu->uuid = text_of(CALL_NVML(uuid, "nvmlDeviceGetUUID", device, text.data(), unsigned{sizeof text}), text);
  int value = 0;
  gpu->brand = CALL_NVML(brand, "nvmlDeviceGetBrand", device, &value).number(value);
  int major = 0;
  int minor = 0;
  const CallResult capability =
      CALL_NVML(compute_capability, "nvmlDeviceGetCudaComputeCapability", device, &major, &minor);
  gpu->compute_capability = capability.number(std::int64_t{major} * 10 + minor);
  gpu->virtualization = CALL_NVML(virtualization, "nvmlDeviceGetVirtualizationMode", device, &value).number(value);
  std::array<unsigned long, cpu_words> cpus{};
  gpu->cpus = CALL_NVML(cpu_affinity, "nvmlDeviceGetCpuAffinity", device, cpu_words, cpus.data())
                  .as(list_of_bits(cpus.data(), cpus.size()));
}

void query_memory(const NvmlCalls& nvml, void* device, NvmlGpu* gpu) {
  platform::NvmlMemory memory;
  gpu->memory_bytes = CALL_NVML(memory_info, "nvmlDeviceGetMemoryInfo", device, &memory).number(memory.total);
  platform::NvmlMemory bar1;
  const CallResult window = CALL_NVML(bar1_info, "nvmlDeviceGetBAR1MemoryInfo", device, &bar1);
  gpu->bar1_total_bytes = window.number(bar1.total);
  gpu->bar1_used_bytes = window.number(bar1.used);
  gpu->bar1_free_bytes = window.number(bar1.free);
  int now = 0;
  int next = 0;
  const CallResult ecc = CALL_NVML(ecc_mode, "nvmlDeviceGetEccMode", device, &now, &next);
  gpu->ecc_enabled = ecc.as(now != 0);
  gpu->ecc_enabled_next = ecc.as(next != 0);
  unsigned long long errors = 0;
  gpu->ecc_uncorrected = CALL_NVML(ecc_errors, "nvmlDeviceGetTotalEccErrors", device, platform::nvml_uncorrected_errors,
                                   platform::nvml_volatile_counter, &errors)
                             .number(errors);
  unsigned rows[4] = {};
  const CallResult remap =
      CALL_NVML(remapped_rows, "nvmlDeviceGetRemappedRows", device, &rows[0], &rows[1], &rows[2], &rows[3]);
  gpu->remap_pending = remap.as(rows[2] != 0);
  gpu->remap_failed = remap.as(rows[3] != 0);
}

void query_modes(const NvmlCalls& nvml, void* device, NvmlGpu* gpu) {
  int value = 0;
  const CallResult persistence = CALL_NVML(persistence, "nvmlDeviceGetPersistenceMode", device, &value);
  gpu->persistence = persistence.as(value != 0);
  gpu->compute_mode = CALL_NVML(compute_mode, "nvmlDeviceGetComputeMode", device, &value).number(value);
  unsigned now = 0;
  unsigned next = 0;
  const CallResult mig = CALL_NVML(mig_mode, "nvmlDeviceGetMigMode", device, &now, &next);
  gpu->mig = mig.as(now != 0);
  gpu->mig_next = mig.as(next != 0);
  unsigned link = 0;
#define QUERY_PCIE(member, symbol)                                        \
  {                                                                       \
    const CallResult returned = CALL_NVML(member, symbol, device, &link); \
    gpu->member = returned.number(link);                                  \
  }
  QUERY_PCIE(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration")
  QUERY_PCIE(pcie_generation_max, "nvmlDeviceGetMaxPcieLinkGeneration")
  QUERY_PCIE(pcie_generation_gpu_max, "nvmlDeviceGetGpuMaxPcieLinkGeneration")
  QUERY_PCIE(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth")
  QUERY_PCIE(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth")
#undef QUERY_PCIE
  platform::NvmlFabricInfo fabric;
  const CallResult registration = CALL_NVML(fabric_info, "nvmlDeviceGetGpuFabricInfo", device, &fabric);
  gpu->fabric_state = registration.number(fabric.state);
  gpu->fabric_status = registration.number(fabric.status);
  gpu->fabric_clique = registration.number(fabric.clique);
  gpu->fabric_cluster = registration.as(digits_of(fabric.cluster, sizeof fabric.cluster));
  gpu->c2c_links = field(nvml, device, platform::nvml_field_c2c_count, 0);
}

void query_system(const NvmlCalls& nvml, NvmlFacts* facts) {
  std::array<char, 80> text{};
  facts->driver_version =
      text_of(CALL_NVML(driver_version, "nvmlSystemGetDriverVersion", text.data(), unsigned{sizeof text}), text);
  text = {};
  facts->nvml_version =
      text_of(CALL_NVML(nvml_version, "nvmlSystemGetNVMLVersion", text.data(), unsigned{sizeof text}), text);
  int version = 0;
  const CallResult cuda = CALL_NVML(cuda_version, "nvmlSystemGetCudaDriverVersion_v2", &version);
  facts->cuda_version = cuda.number(version);
  platform::NvmlCcSettings settings;
  settings.version = platform::nvml_cc_settings_version;
  CallResult returned = CALL_NVML(cc_settings, "nvmlSystemGetConfComputeSettings", &settings);
  facts->cc_multi_gpu = returned.number(settings.multi_gpu);
  if (returned.result != platform::nvml_success) {
    platform::NvmlCcState state;  // the variant of drivers before 550
    returned = CALL_NVML(cc_state, "nvmlSystemGetConfComputeState", &state);
    settings.environment = state.environment;
    settings.feature = state.feature;
    settings.developer_tools = state.developer_tools;
  }
  facts->cc_environment = returned.number(settings.environment);
  facts->cc_enabled = returned.as(settings.feature != 0);
  facts->cc_developer_mode = returned.as(settings.developer_tools != 0);
}

/// A device's handle, and the result of opening it.
struct Opened {
  CallResult returned;
  void* device;
};

NvmlPair query_pair(const NvmlCalls& nvml, const Opened& one, const Opened& other) {
  NvmlPair pair;
  for (const Opened& opened : {one, other}) {
    if (opened.returned.result == platform::nvml_success) continue;
#define GDRKIT_NVML_PAIR(type, name) pair.name = opened.returned.as(type{});
#include "diag/machine/nvml_facts.def"
    return pair;
  }
  int value = 0;
  const CallResult path =
      CALL_NVML(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor", one.device, other.device, &value);
  pair.common_ancestor = path.number(value);
  const auto status = [&](int which) {
    const CallResult returned =
        CALL_NVML(p2p_status, "nvmlDeviceGetP2PStatus", one.device, other.device, which, &value);
    return returned.number(value);
  };
  pair.p2p_read = status(platform::nvml_p2p_read);
  pair.p2p_write = status(platform::nvml_p2p_write);
  pair.p2p_nvlink = status(platform::nvml_p2p_nvlink);
  return pair;
}

NvmlGpu query_gpu(const NvmlCalls& nvml, unsigned index, const Opened& opened) {
  NvmlGpu gpu;
  gpu.index = index;
  if (opened.returned.result == platform::nvml_success) {
    query_identity(nvml, opened.device, &gpu);
    query_memory(nvml, opened.device, &gpu);
    query_modes(nvml, opened.device, &gpu);
    query_links(nvml, opened.device, &gpu);
  } else {
#define GDRKIT_NVML_GPU(type, name) gpu.name = opened.returned.as(type{});
#include "diag/machine/nvml_facts.def"
  }
  return gpu;
}

}  // namespace

Fact<NvmlFacts> gather_nvml_facts(const NvmlCalls& nvml) {
  if (const CallResult init = CALL_NVML(init, "nvmlInit_v2"); init.result != platform::nvml_success)
    return init.as(NvmlFacts{});
  unsigned count = 0;
  const CallResult counted = CALL_NVML(device_count, "nvmlDeviceGetCount_v2", &count);
  Fact<NvmlFacts> facts = counted.as(NvmlFacts{});
  if (facts.is_found()) {
    query_system(nvml, &facts.value);
    std::vector<Opened> all;
    for (unsigned index = 0; index < std::min<unsigned>(count, most_nvml_gpus); ++index) {
      void* device = nullptr;
      const CallResult opened = CALL_NVML(device_by_index, "nvmlDeviceGetHandleByIndex_v2", index, &device);
      all.push_back({opened, device});
      facts.value.gpus.push_back(query_gpu(nvml, index, all.back()));
    }
    for (std::size_t first = 0; first < all.size(); ++first) {
      for (std::size_t second = first + 1; second < all.size(); ++second) {
        NvmlPair& pair = facts.value.pairs.emplace_back(query_pair(nvml, all[first], all[second]));
        pair.first = first;
        pair.second = second;
      }
    }
  }
  (void)CALL_NVML(shutdown, "nvmlShutdown");
  return facts;
}

}  // namespace gdrkit::diag
