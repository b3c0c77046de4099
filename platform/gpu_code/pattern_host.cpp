// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The host's part of the GPU kernel `pattern`.
#include <algorithm>

#include "platform/gpu_code/host_access.hpp"
#include "platform/gpu_code/pattern_params.hpp"
#include "platform/gpu_code/pattern_value.cuh"

namespace gdrkit::platform {
namespace {

base::Status check(const PatternParameters& parameters, LaunchShape, unsigned) noexcept {
  const std::uint32_t bytes = parameters.element_bytes;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'pattern': invalid element size %u; use 1, 2, 4 or 8 bytes",
                      bytes);
  }
  if (parameters.address % bytes != 0 || parameters.found % sizeof(std::uint64_t) != 0) {
    return base::fail(EINVAL,
                      "cannot launch GPU kernel 'pattern': the address of the data (0x%llx) or of the counters "
                      "(0x%llx) is not naturally aligned",
                      static_cast<unsigned long long>(parameters.address),
                      static_cast<unsigned long long>(parameters.found));
  }
  if (parameters.rank >= parameters.ranks) {
    return base::fail(EINVAL, "cannot launch GPU kernel 'pattern': rank %u is out of range: the number of ranks is %u",
                      parameters.rank, parameters.ranks);
  }
  if (parameters.largest == 0)
    return base::fail(EINVAL, "cannot launch GPU kernel 'pattern': the maximum integer is 0; use at least 1");
  if (parameters.kind > PatternKind::average)
    return base::fail(EINVAL, "cannot launch GPU kernel 'pattern': unknown kind of pattern");
  return {};
}

template <class Word>
static void work_on_pattern(const PatternParameters& parameters) noexcept {
  auto* words = reinterpret_cast<Word*>(parameters.address);
  auto* found = reinterpret_cast<PatternFound*>(parameters.found);
  for (std::uint64_t at = 0; at < parameters.count; ++at) {
    const auto expected = static_cast<Word>(pattern_value(parameters, parameters.first + at));
    if (found == nullptr) {
      words[at] = expected;
    } else if (!is_pattern(parameters, words[at], expected)) {
      found->wrong += 1;
      found->first_wrong = std::min<std::uint64_t>(found->first_wrong, at);
    }
  }
}

void play(const PatternParameters& parameters, LaunchShape) noexcept {
  switch (parameters.element_bytes) {
    case 1: return work_on_pattern<std::uint8_t>(parameters);
    case 2: return work_on_pattern<std::uint16_t>(parameters);
    case 4: return work_on_pattern<std::uint32_t>(parameters);
    default: return work_on_pattern<std::uint64_t>(parameters);
  }
}

}  // namespace

base::Status GpuKernels::launch(const PatternParameters& parameters, LaunchShape shape, Stream stream) noexcept {
  return launch_any<GpuKernel::pattern>(parameters, shape, stream, check, play);
}

}  // namespace gdrkit::platform
