// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "diag/machine/nvml_facts.hpp"

#include "diag/machine/fact_json.hpp"

namespace gdrkit::diag {
namespace {

using namespace machine::fact_json;
using machine::fact_json::json_of;  // in addition to the overloads in this file

constexpr const char* schema = "gdrkit.nvml/1";
constexpr int deepest = 8;  // document, gpus, GPU, links, link, fact

std::string excuse(const std::string& name, const char* what) {
  return machine::fact_json::excuse(nvml_recording, name, what);
}

template <class T>
Fact<T> fact_of(const Json& object, const char* name) {
  return machine::fact_json::fact_of<T>(object, nvml_recording, name);
}

std::string take_list(const Json& object, const char* name, std::size_t most, const Json** list) {
  return machine::fact_json::take_list(object, nvml_recording, name, most, list);
}

Json json_of(const NvmlLink& link) {
  Json json = {{"index", link.index}};
#define GDRKIT_NVML_LINK(type, name) json[#name] = json_of(link.name);
#include "diag/machine/nvml_facts.def"
  return json;
}

Json json_of(const NvmlGpu& gpu) {
  Json json = {{"index", gpu.index}};
#define GDRKIT_NVML_GPU(type, name) json[#name] = json_of(gpu.name);
#include "diag/machine/nvml_facts.def"
  json["links"] = Json::array();
  for (const NvmlLink& link : gpu.links) json["links"].push_back(json_of(link));
  return json;
}

Json json_of(const NvmlPair& pair) {
  Json json = {{"first", pair.first}, {"second", pair.second}};
#define GDRKIT_NVML_PAIR(type, name) json[#name] = json_of(pair.name);
#include "diag/machine/nvml_facts.def"
  return json;
}

std::string take_index(const Json& object, const char* name, std::int64_t most, std::int64_t* value) {
  const auto at = object.find(name);
  const bool is_good = at != object.end() && take_value(*at, value) && *value <= most;
  return is_good ? "" : excuse(name, "is not a device number");
}

std::string take_gpu(const Json& json, NvmlGpu* gpu) {
  if (auto why = take_index(json, "index", INT32_MAX, &gpu->index); !why.empty()) return why;
#define GDRKIT_NVML_GPU(type, name) gpu->name = fact_of<type>(json, #name);
#include "diag/machine/nvml_facts.def"
  const Json* links = nullptr;
  if (auto why = take_list(json, "links", most_nvml_links, &links); !why.empty()) return why;
  for (const Json& entry : *links) {
    NvmlLink link;
    if (auto why = take_index(entry, "index", INT32_MAX, &link.index); !why.empty()) return why;
#define GDRKIT_NVML_LINK(type, name) link.name = fact_of<type>(entry, #name);
#include "diag/machine/nvml_facts.def"
    gpu->links.push_back(std::move(link));
  }
  return "";
}

std::string take_pair(const Json& json, std::size_t gpu_count, NvmlPair* pair) {
  std::int64_t first = 0;
  std::int64_t second = 0;
  const auto last = static_cast<std::int64_t>(gpu_count) - 1;
  if (auto why = take_index(json, "first", last, &first); !why.empty()) return why;
  if (auto why = take_index(json, "second", last, &second); !why.empty()) return why;
  if (first >= second) return excuse("pairs", "contains a pair that is out of order");
  pair->first = static_cast<std::size_t>(first);
  pair->second = static_cast<std::size_t>(second);
#define GDRKIT_NVML_PAIR(type, name) pair->name = fact_of<type>(json, #name);
#include "diag/machine/nvml_facts.def"
  return "";
}

std::string take_facts(const Json& json, NvmlFacts* facts) {
#define GDRKIT_NVML_SYSTEM(type, name) facts->name = fact_of<type>(json, #name);
#include "diag/machine/nvml_facts.def"
  const Json* list = nullptr;
  if (auto why = take_list(json, "gpus", most_nvml_gpus, &list); !why.empty()) return why;
  for (const Json& entry : *list) {
    if (auto why = take_gpu(entry, &facts->gpus.emplace_back()); !why.empty()) return why;
  }
  if (auto why = take_list(json, "pairs", most_nvml_gpus * most_nvml_gpus / 2, &list); !why.empty()) return why;
  for (const Json& entry : *list) {
    if (auto why = take_pair(entry, facts->gpus.size(), &facts->pairs.emplace_back()); !why.empty()) return why;
  }
  return "";
}

}  // namespace

const char* p2p_text(std::int64_t status) noexcept {
  constexpr const char* texts[] = {"works",
                                   "the chipset does not support it",
                                   "a GPU does not support it",
                                   "the topology does not support it",
                                   "a driver option forbids it",
                                   "it is not supported"};
  return status >= 0 && status < 6 ? texts[status] : "the driver does not report why";
}

const NvmlGpu* NvmlFacts::gpu_at(std::string_view address) const noexcept {
  for (const NvmlGpu& gpu : gpus) {
    if (gpu.address.is_found() && gpu.address.value == address) return &gpu;
  }
  return nullptr;
}

const NvmlPair* NvmlFacts::pair_of(std::string_view one, std::string_view other) const noexcept {
  for (const NvmlPair& pair : pairs) {
    const auto& first = gpus[pair.first].address;
    const auto& second = gpus[pair.second].address;
    if (!first.is_found() || !second.is_found()) continue;
    if ((first.value == one && second.value == other) || (first.value == other && second.value == one)) return &pair;
  }
  return nullptr;
}

std::string to_json_text(const Fact<NvmlFacts>& facts) {
  Json json = {{"schema", schema}};
  if (facts.is_found()) {
#define GDRKIT_NVML_SYSTEM(type, name) json[#name] = json_of(facts.value.name);
#include "diag/machine/nvml_facts.def"
    json["gpus"] = Json::array();
    for (const NvmlGpu& gpu : facts.value.gpus) json["gpus"].push_back(json_of(gpu));
    json["pairs"] = Json::array();
    for (const NvmlPair& pair : facts.value.pairs) json["pairs"].push_back(json_of(pair));
  } else {
    json.update(failure_json(facts.outcome, facts.reason));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Fact<NvmlFacts> parse_nvml_facts(std::string_view text) {
  return parse_recording<NvmlFacts>(text, nvml_recording, schema, deepest, take_facts);
}

Fact<NvmlFacts> read_nvml_facts(const topology::MachineView& view) {
  return read_recording(view, nvml_recording, parse_nvml_facts);
}

}  // namespace gdrkit::diag
