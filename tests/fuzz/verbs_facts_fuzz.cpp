// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary bytes as a recording's /gdrkit/verbs.json: the result is bounded, and equal after it is written and read
// again.
#include "diag/machine/verbs_facts.hpp"

#include <string>

#include "fuzz_target.hpp"

using namespace gdrkit::diag;
using gdrkit::diag::topology::Outcome;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = parse_verbs_facts({reinterpret_cast<const char*>(data), size});
  FUZZ_CHECK(facts.is_found() || !facts.reason.empty() || facts.outcome != Outcome::malformed);
  FUZZ_CHECK(facts.value.devices.size() <= most_verbs_devices);
  for (const VerbsDevice& device : facts.value.devices) FUZZ_CHECK(device.name.size() <= 64);
  const std::string text = to_json_text(facts);
  const auto back = parse_verbs_facts(text);
  FUZZ_CHECK(back.outcome == facts.outcome);
  FUZZ_CHECK(to_json_text(back) == text);
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  const std::string start = R"({"schema":"gdrkit.verbs/1",)";
  return to_seeds(
      {to_json_text({}), start + R"("dmabuf_call":true,"devices":[]})",
       start + R"("outcome":"unreadable","reason":"libibverbs cannot be loaded"})",
       start + R"("dmabuf_call":true,"devices":[{"name":"mlx5_0","dmabuf":true},{"name":"mlx5_1","dmabuf":false}]})",
       start + R"("devices":[{"name":"mlx5_0","dmabuf":{"outcome":"absent","reason":""}}]})"});
}
