// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// Drives a fuzz target without an engine: the seeds, then a number of mutated inputs from a fixed seed.
// Arguments: the number of inputs, and another seed.
#include <cstdlib>
#include <random>

#include "fuzz_target.hpp"

namespace {

using gdrkit::fuzz::Bytes;

void mutate(Bytes& bytes, std::mt19937_64& random) {
  static constexpr std::uint8_t interesting[] = {0, 1, 0x7f, 0x80, 0xff, '.', '0', '9', ' '};
  const unsigned changes = 1 + static_cast<unsigned>(random() % 8);
  for (unsigned i = 0; i < changes; ++i) {
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 6) {
      case 0: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random())); break;
      case 1:
        if (!bytes.empty()) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:
        if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
        break;
      case 3:
        if (!bytes.empty()) bytes[at] = interesting[random() % sizeof interesting];
        break;
      case 4:
        if (!bytes.empty()) bytes[at] ^= static_cast<std::uint8_t>(1u << random() % 8);
        break;
      default:
        for (std::size_t k = at; k < bytes.size() && k < at + 4; ++k) bytes[k] = static_cast<std::uint8_t>(random());
        break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
  const auto seeds = gdrkit::fuzz::seeds();
  FUZZ_CHECK(!seeds.empty());
  for (const Bytes& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20261120);
  for (unsigned long i = 0; i < count; ++i) {
    Bytes bytes = seeds[random() % seeds.size()];
    mutate(bytes, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%zu seeds and %lu mutated inputs, every invariant held\n", seeds.size(), count);
  return 0;
}
