// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/verbs_facts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "diag/machine/fact_json.hpp"
#include "diag/machine/vendor_text.hpp"
#include "platform/vendor/verbs_library.hpp"

namespace gdrkit::diag {
namespace {

using namespace machine::fact_json;
using platform::VerbsCalls;

constexpr const char* schema = "gdrkit.verbs/1";
constexpr int deepest = 5;                // document, devices, device, fact
constexpr std::size_t longest_name = 64;  // IBV_SYSFS_NAME_MAX

std::string failure(const char* function, int error) {
  return std::string(function) + ": " + (error == 0 ? "failed without an error code" : std::strerror(error));
}

/// Such a dma-buf cannot exist, so its registration fails. The error shows whether device and Linux support the call.
Fact<bool> registration(const VerbsCalls& verbs, platform::VerbsDomain* domain) {
  errno = 0;
  platform::VerbsRegion* region = verbs.reg_dmabuf_mr(domain, 0, 0, 0, -1, 0);
  const int error = errno;
  if (region != nullptr) {
    (void)verbs.dereg_mr(region);
    return {Outcome::unreadable, {}, "ibv_reg_dmabuf_mr: accepted an invalid dma-buf (file descriptor -1)"};
  }
  Fact<bool> can;
  can.outcome = Outcome::found;
  can.value = error == EBADF;
  const bool is_no = error == EOPNOTSUPP || error == EPROTONOSUPPORT;
  if (can.value || is_no) return can;
  return {Outcome::unreadable, {}, failure("ibv_reg_dmabuf_mr", error)};
}

/// Ignores a failed release: Linux releases everything at the end of the process.
Fact<bool> query_device(const VerbsCalls& verbs, platform::VerbsDeviceHandle* device) {
  errno = 0;
  platform::VerbsContext* context = verbs.open_device(device);
  if (context == nullptr) return {Outcome::unreadable, {}, failure("ibv_open_device", errno)};
  errno = 0;
  platform::VerbsDomain* domain = verbs.alloc_pd(context);
  const int error = errno;
  Fact<bool> can;
  if (domain == nullptr) {
    can = {Outcome::unreadable, {}, failure("ibv_alloc_pd", error)};
  } else {
    can = registration(verbs, domain);
    (void)verbs.dealloc_pd(domain);
  }
  (void)verbs.close_device(context);
  return can;
}

std::string take_device(const Json& json, VerbsDevice* device) {
  const auto name = json.find("name");
  const bool is_good = name != json.end() && take_value(*name, &device->name) && device->name.size() <= longest_name;
  if (!is_good) return excuse(verbs_recording, "name", "is not a device name");
  device->dmabuf = fact_of<bool>(json, verbs_recording, "dmabuf");
  return "";
}

std::string take_facts(const Json& json, VerbsFacts* facts) {
  facts->dmabuf_call = fact_of<bool>(json, verbs_recording, "dmabuf_call");
  const Json* list = nullptr;
  if (auto why = take_list(json, verbs_recording, "devices", most_verbs_devices, &list); !why.empty()) return why;
  for (const Json& entry : *list) {
    if (auto why = take_device(entry, &facts->devices.emplace_back()); !why.empty()) return why;
  }
  return "";
}

}  // namespace

const VerbsDevice* VerbsFacts::device_named(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(devices, [&](const auto& device) { return device.name == name; });
  return found == devices.end() ? nullptr : &*found;
}

Fact<VerbsFacts> gather_verbs_facts(const VerbsCalls& verbs) {
  int count = 0;
  errno = 0;
  platform::VerbsDeviceHandle** list = verbs.get_device_list(&count);
  if (list == nullptr) return {Outcome::unreadable, {}, failure("ibv_get_device_list", errno)};
  Fact<VerbsFacts> facts;
  facts.outcome = Outcome::found;
  facts.value.dmabuf_call.outcome = Outcome::found;
  facts.value.dmabuf_call.value = verbs.reg_dmabuf_mr != nullptr;
  for (int i = 0; i < std::min<int>(count, most_verbs_devices) && list[i] != nullptr; ++i) {
    const char* name = verbs.get_device_name(list[i]);
    if (name == nullptr) continue;
    VerbsDevice& device = facts.value.devices.emplace_back();
    device.name = printable(name, longest_name);
    device.dmabuf =
        verbs.reg_dmabuf_mr != nullptr
            ? query_device(verbs, list[i])
            : Fact<bool>{Outcome::absent, {}, "libibverbs has no ibv_reg_dmabuf_mr: it is older than rdma-core 34"};
  }
  verbs.free_device_list(list);
  return facts;
}

std::string to_json_text(const Fact<VerbsFacts>& facts) {
  Json json = {{"schema", schema}};
  if (facts.is_found()) {
    json["dmabuf_call"] = json_of(facts.value.dmabuf_call);
    json["devices"] = Json::array();
    for (const VerbsDevice& device : facts.value.devices) {
      json["devices"].push_back({{"name", device.name}, {"dmabuf", json_of(device.dmabuf)}});
    }
  } else {
    json.update(failure_json(facts.outcome, facts.reason));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Fact<VerbsFacts> parse_verbs_facts(std::string_view text) {
  return parse_recording<VerbsFacts>(text, verbs_recording, schema, deepest, take_facts);
}

Fact<VerbsFacts> read_verbs_facts(const topology::MachineView& view) {
  return read_recording(view, verbs_recording, parse_verbs_facts);
}

}  // namespace gdrkit::diag
