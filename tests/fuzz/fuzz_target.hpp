// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Interface of a fuzz target: the entry that libFuzzer calls, and seeds for the driver without an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define FUZZ_CHECK(condition)                                                                \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      std::fprintf(stderr, "%s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                          \
    }                                                                                        \
  } while (false)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace gdrkit::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Well-formed inputs. Mutation starts from them, so that it reaches the code after the first check.
[[nodiscard]] std::vector<Bytes> seeds();

/// Returns texts as seeds.
[[nodiscard]] inline std::vector<Bytes> to_seeds(const std::vector<std::string>& texts) {
  std::vector<Bytes> all;
  for (const std::string& text : texts) all.emplace_back(text.begin(), text.end());
  return all;
}

}  // namespace gdrkit::fuzz
