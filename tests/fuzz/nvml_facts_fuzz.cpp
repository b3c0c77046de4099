// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary bytes as a recording's /gdrkit/nvml.json: the result is bounded, and equal after it is written and read
// again.
#include "diag/machine/nvml_facts.hpp"

#include <string>

#include "fuzz_target.hpp"

using namespace gdrkit::diag;
using gdrkit::diag::topology::Outcome;

namespace {

NvmlGpu healthy_gpu(std::int64_t index) {
  NvmlGpu gpu;
  gpu.index = index;
  const auto set = [](auto* fact, auto value) {
    fact->outcome = Outcome::found;
    fact->value = value;
  };
  set(&gpu.address, "0000:0" + std::to_string(index) + ":00.0");
  set(&gpu.name, std::string("NVIDIA H200"));
  set(&gpu.bar1_total_bytes, std::int64_t{1} << 38);
  set(&gpu.mig, false);
  gpu.ecc_enabled.reason = "nvmlDeviceGetEccMode: NVML_ERROR_NOT_SUPPORTED";
  for (std::int64_t i = 0; i < 3; ++i) {
    NvmlLink& link = gpu.links.emplace_back();
    link.index = i;
    set(&link.is_active, true);
    set(&link.remote, std::string());
    set(&link.remote_kind, std::string("switch"));
  }
  return gpu;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = parse_nvml_facts({reinterpret_cast<const char*>(data), size});
  FUZZ_CHECK(facts.is_found() || !facts.reason.empty() || facts.outcome != Outcome::malformed);
  FUZZ_CHECK(facts.value.gpus.size() <= most_nvml_gpus);
  for (const NvmlGpu& gpu : facts.value.gpus) {
    FUZZ_CHECK(gpu.index >= 0 && gpu.links.size() <= most_nvml_links);
    FUZZ_CHECK(!gpu.memory_bytes.is_found() || gpu.memory_bytes.value >= 0);
    FUZZ_CHECK(!gpu.address.is_found() || facts.value.gpu_at(gpu.address.value) != nullptr);
  }
  for (const NvmlPair& pair : facts.value.pairs) {
    FUZZ_CHECK(!facts.is_found() || (pair.first < pair.second && pair.second < facts.value.gpus.size()));
  }
  const std::string text = to_json_text(facts);
  const auto back = parse_nvml_facts(text);
  FUZZ_CHECK(back.outcome == facts.outcome);
  FUZZ_CHECK(to_json_text(back) == text);
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  topology::Fact<NvmlFacts> facts;
  facts.outcome = Outcome::found;
  for (std::int64_t i = 0; i < 2; ++i) facts.value.gpus.push_back(healthy_gpu(i));
  facts.value.pairs.emplace_back().second = 1;
  const std::string start = R"({"schema":"gdrkit.nvml/1",)";
  return to_seeds(
      {to_json_text(facts), to_json_text({}), start + R"("gpus":[],"pairs":[]})",
       start + R"("outcome":"unreadable","reason":"nvmlInit_v2: NVML_ERROR_NO_PERMISSION"})",
       start + R"("gpus":[{"index":0,"links":[{"index":0,"remote":{"outcome":"absent","reason":""}}]}],"pairs":[]})"});
}
