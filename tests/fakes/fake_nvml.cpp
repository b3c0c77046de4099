// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Two GPUs with 18 NVLinks each, as a library with NVML's names. Built as libnvidia-ml.so.1 in a separate directory.
#include "fakes/fake_nvml.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

#include "platform/vendor/nvml_library.hpp"

using gdrkit::platform::NvmlCcSettings;
using gdrkit::platform::NvmlCcState;
using gdrkit::platform::NvmlFabricInfo;
using gdrkit::platform::NvmlFieldValue;
using gdrkit::platform::NvmlMemory;
using gdrkit::platform::NvmlPciInfo;

namespace {

constexpr unsigned gpu_count = 2;
constexpr unsigned link_count = 18;
constexpr unsigned dead_link = 17;  // of the second GPU
constexpr int ok = 0;
constexpr int invalid_argument = 2;
constexpr int not_supported = 3;

int devices[gpu_count] = {0, 1};
std::map<std::string, int> failures;
int violations = 0;
bool is_up = false;
bool returns_invalid_values = false;

bool is_device(void* device) { return device == &devices[0] || device == &devices[1]; }

/// Returns the result of the call of this name before it does anything.
int start(const char* name) {
  if (!is_up && std::strcmp(name, "nvmlInit_v2") != 0) ++violations;
  const auto failure = failures.find(name);
  return failure == failures.end() ? ok : failure->second;
}

int start(const char* name, void* device) {
  if (!is_device(device)) ++violations;
  return start(name);
}

int start(const char* name, void* device, unsigned link) {
  if (link >= link_count) return invalid_argument;
  return start(name, device);
}

int write(char* buffer, unsigned size, const std::string& text) {
  if (returns_invalid_values) {
    std::memset(buffer, '\x9b', size);
  } else {
    std::snprintf(buffer, size, "%s", text.c_str());
  }
  return ok;
}

template <class Number>
int write(Number* target, Number value) {
  *target = returns_invalid_values ? static_cast<Number>(-1) : value;
  return ok;
}

bool is_dead(void* device, unsigned link) { return device == &devices[1] && link == dead_link; }

}  // namespace

#define START(...) \
  if (const int result = start(__func__ __VA_OPT__(, ) __VA_ARGS__); result != ok) return result
#define EXPORT extern "C" __attribute__((visibility("default"))) int
#define EXPORT_VALUE(name, Type, value)     \
  EXPORT name(void* device, Type* target) { \
    START(device);                          \
    return write<Type>(target, value);      \
  }

extern "C" __attribute__((visibility("default"))) void fake_nvml_fail(const char* name, int result) {
  if (name == nullptr) return failures.clear();
  failures[name] = result;
}
EXPORT fake_nvml_violations() { return violations; }
extern "C" __attribute__((visibility("default"))) void fake_nvml_return_invalid_values(bool is_enabled) {
  returns_invalid_values = is_enabled;
}

EXPORT nvmlInit_v2() {
  START();
  if (is_up) ++violations;
  is_up = true;
  return ok;
}
EXPORT nvmlShutdown() {
  const int result = start(__func__);
  is_up = false;
  return result;
}
EXPORT nvmlDeviceGetCount_v2(unsigned* count) {
  START();
  return write(count, gpu_count);
}
EXPORT nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  START();
  if (index >= gpu_count) return invalid_argument;
  *device = &devices[index];
  return ok;
}
EXPORT nvmlSystemGetDriverVersion(char* text, unsigned size) {
  START();
  return write(text, size, "580.159.04");
}
EXPORT nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  START();
  return write(text, size, "13.580.159.04");
}
EXPORT nvmlSystemGetCudaDriverVersion_v2(int* version) {
  START();
  return write(version, 13000);
}
EXPORT nvmlSystemGetConfComputeSettings(NvmlCcSettings* settings) {
  START();
  if (settings->version != gdrkit::platform::nvml_cc_settings_version) return 25;
  *settings = {settings->version, 2, 1, 0, 1};
  return ok;
}
EXPORT nvmlSystemGetConfComputeState(NvmlCcState* state) {
  START();
  *state = {2, 1, 0};
  return ok;
}
EXPORT nvmlDeviceGetPciInfo_v3(void* device, NvmlPciInfo* info) {
  START(device);
  return write(info->bus_id, sizeof info->bus_id, device == &devices[0] ? "00000000:03:00.0" : "00000000:83:00.0");
}
EXPORT nvmlDeviceGetName(void* device, char* text, unsigned size) {
  START(device);
  return write(text, size, "NVIDIA H200");
}
EXPORT nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  START(device);
  return write(text, size, device == &devices[0] ? "GPU-0" : "GPU-1");
}
EXPORT_VALUE(nvmlDeviceGetBrand, int, 14)
EXPORT nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  START(device);
  (void)write(minor, 0);
  return write(major, 9);
}
EXPORT nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory) {
  START(device);
  (void)write(&memory->free, 100ull << 30);
  (void)write(&memory->used, 41ull << 30);
  return write(&memory->total, 141ull << 30);
}
EXPORT nvmlDeviceGetBAR1MemoryInfo(void* device, NvmlMemory* memory) {
  START(device);
  (void)write(&memory->free, 255ull << 30);
  (void)write(&memory->used, 1ull << 30);
  return write(&memory->total, 256ull << 30);
}
EXPORT nvmlDeviceGetEccMode(void* device, int* now, int* next) {
  START(device);
  (void)write(next, 0);
  return write(now, 1);
}
EXPORT nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  START(device);
  if (type != gdrkit::platform::nvml_uncorrected_errors || counter != gdrkit::platform::nvml_volatile_counter)
    ++violations;
  return write(count, 7ull);
}
EXPORT nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                                 unsigned* failed) {
  START(device);
  (void)write(corrected, 5u);
  (void)write(uncorrected, 6u);
  (void)write(failed, 0u);
  return write(pending, 1u);
}
EXPORT_VALUE(nvmlDeviceGetPersistenceMode, int, 1)
EXPORT_VALUE(nvmlDeviceGetComputeMode, int, 3)
EXPORT nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* next) {
  START(device);
  (void)write(next, 1u);
  return write(now, 0u);
}
EXPORT_VALUE(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, 1u)
EXPORT_VALUE(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, 4u)
EXPORT_VALUE(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned, 5u)
EXPORT_VALUE(nvmlDeviceGetCurrPcieLinkWidth, unsigned, 8u)
EXPORT_VALUE(nvmlDeviceGetMaxPcieLinkWidth, unsigned, 16u)
EXPORT_VALUE(nvmlDeviceGetVirtualizationMode, int, 1)
EXPORT nvmlDeviceGetGpuFabricInfo(void* device, NvmlFabricInfo* info) {
  START(device);
  info->cluster[0] = 0xab;
  info->cluster[15] = 0x01;
  (void)write(&info->status, 0);
  (void)write(&info->clique, 4u);
  info->state = 3;
  return ok;
}
EXPORT nvmlDeviceGetFieldValues(void* device, int count, NvmlFieldValue* values) {
  START(device);
  if (count != 1) ++violations;
  values->value_type = gdrkit::platform::nvml_value_uint;
  values->value = 0xdddddddd00000000;  // the narrow type leaves these bits unchanged
  switch (values->field) {
    case gdrkit::platform::nvml_field_link_count: values->value += link_count; break;
    case gdrkit::platform::nvml_field_link_speed: values->value += 26562; break;
    case gdrkit::platform::nvml_field_link_state: values->value += is_dead(device, values->scope) ? 0 : 1; break;
    case gdrkit::platform::nvml_field_c2c_count: values->result = not_supported; break;
    default: values->result = invalid_argument;
  }
  if (returns_invalid_values) values->value_type = 99;
  return ok;
}
EXPORT nvmlDeviceGetCpuAffinity(void* device, unsigned count, unsigned long* words) {
  START(device);
  if (count < 2) return 7;
  words[0] = 0xffff;
  words[1] = 0x3;
  return ok;
}
EXPORT nvmlDeviceGetNvLinkState(void* device, unsigned link, int* is_active) {
  START(device, link);
  return write(is_active, is_dead(device, link) ? 0 : 1);
}
EXPORT nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned link, NvmlPciInfo* info) {
  START(device, link);
  if (is_dead(device, link) && !returns_invalid_values) ++violations;
  info->domain = 0x0fffffff;
  return write(info->bus_id, sizeof info->bus_id, link == 0 ? "0FFFFFFF:FF:FF.0" : "00000000:C5:00.0");
}
EXPORT nvmlDeviceGetNvLinkRemoteDeviceType(void* device, unsigned link, int* type) {
  START(device, link);
  return write(type, link == 1 ? 255 : 2);
}
EXPORT nvmlDeviceGetNvLinkCapability(void* device, unsigned link, int capability, unsigned* value) {
  START(device, link);
  if (capability != gdrkit::platform::nvml_link_can_p2p) ++violations;
  return write(value, 1u);
}
EXPORT nvmlDeviceGetTopologyCommonAncestor(void* first, void* second, int* level) {
  START(first);
  if (!is_device(second) || first == second) ++violations;
  return write(level, 40);
}
EXPORT nvmlDeviceGetP2PStatus(void* first, void* second, int which, int* status) {
  START(first);
  if (!is_device(second) || first == second) ++violations;
  return write(status, which == gdrkit::platform::nvml_p2p_nvlink ? 0 : which + 4);
}
