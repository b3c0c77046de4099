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
  std::vector<Bytes> all;
  const std::string start = "{\"schema\":\"gdrkit.verbs/1\",";
  for (const std::string& text :
       {to_json_text({}), start + "\"dmabuf_call\":true,\"devices\":[]}",
        start + "\"outcome\":\"unreadable\",\"reason\":\"libibverbs cannot be loaded\"}",
        start + "\"dmabuf_call\":true,\"devices\":[{\"name\":\"mlx5_0\",\"dmabuf\":true},{\"name\":\"mlx5_1\","
                "\"dmabuf\":false}]}",
        start + "\"devices\":[{\"name\":\"mlx5_0\",\"dmabuf\":{\"outcome\":\"absent\",\"reason\":\"\"}}]}"}) {
    all.emplace_back(text.begin(), text.end());
  }
  return all;
}
