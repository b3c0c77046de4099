// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Arbitrary text as a version, and as /proc/driver/nvidia/version.
#include <algorithm>
#include <string>

#include "backend/rm/driver_layout.hpp"
#include "driver/driver_version.hpp"
#include "fuzz_target.hpp"

using namespace gdrkit::backend::rm;
using namespace gdrkit::driver;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto version = parse_driver_version(text)) {
    FUZZ_CHECK(version->major <= 99999 && version->minor <= 99999 && version->patch <= 99999);
    FUZZ_CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); }));
    const auto layout = layout_for(*version, std::string(text), false);
    FUZZ_CHECK(layout.has_value() ==
               (*version >= DriverVersion{515, 43, 4} && version->major <= newest_reviewed_major));
    if (layout) FUZZ_CHECK(layout->first <= *version);
  }
  if (const auto found = find_version_text(text)) {
    FUZZ_CHECK(found->data() >= text.data() && found->data() + found->size() <= text.data() + text.size());
    FUZZ_CHECK(parse_driver_version(*found).has_value());
  }
  return 0;
}

std::vector<gdrkit::fuzz::Bytes> gdrkit::fuzz::seeds() {
  return to_seeds({"580.159.04", "515.43", "620.6.0",
                   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC",
                   "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"});
}
