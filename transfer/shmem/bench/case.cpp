// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/case.hpp"

#include <algorithm>
#include <cstring>

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t smallest_bulk_bytes = std::size_t{1} << 20;
constexpr std::size_t smallest_wide_bytes = std::size_t{64} << 10;
constexpr std::size_t largest_small_bytes = std::size_t{32} << 10;
constexpr std::size_t largest_message_bytes = 64;
constexpr std::size_t largest_part_bytes = std::size_t{64} << 20;
constexpr std::size_t bulk_factor = 4;
constexpr std::size_t few_factor = 8;

std::vector<std::size_t> steps(std::size_t from, std::size_t to, std::size_t factor) {
  std::vector<std::size_t> sizes;
  for (std::size_t size = from; size <= to; size *= factor) {
    sizes.push_back(size);
    if (size > to / factor) break;
  }
  return sizes;
}

/// The last one is the largest that fits.
std::vector<std::size_t> part_sizes(const SizeRange& range, std::size_t most) {
  const std::size_t object = std::max(range.largest_bytes, range.largest_bulk_bytes);
  std::size_t largest = std::min(most, object / static_cast<std::size_t>(range.n_pes));
  largest -= largest % sizeof(std::uint64_t);
  std::vector<std::size_t> sizes = steps(std::max(range.smallest_bytes, sizeof(std::uint64_t)), largest, few_factor);
  if (!sizes.empty() && sizes.back() < largest) sizes.push_back(largest);
  return sizes;
}

}  // namespace

Quantity Case::quantity() const noexcept {
  if (device && device->groups == Groups::every_thread) return Quantity::rate;
  return sizes == Sizes::bulk || sizes == Sizes::wide ? Quantity::bandwidth : Quantity::latency;
}

std::string Case::title() const {
  std::string text = operation;
  const bool reads = text == "get" || text == "g";
  if (*memory != '\0') text += std::string(reads ? " to " : " from ") + memory + " memory";
  if (*completion != '\0') text += std::string(", ") + completion;
  if (!device) return std::strcmp(side, "stream") == 0 ? text + ", on a stream" : text;
  if (device->groups == Groups::every_thread) return text + ", by all threads of a grid";
  return text + (device->groups == Groups::grid ? ", by all blocks of a " : ", by a ") + scope;
}

const std::vector<Case>& all_cases() {
  using platform::ShmemOperation;
  using platform::ShmemScope;
  static const std::vector<Case> all = {
#define GDRKIT_SHMEM_CASE(name, operation, memory, completion, who, sizes) \
  {#name, "host", operation, "host", memory, completion, Who::who, Sizes::sizes},
#define GDRKIT_SHMEM_STREAM_CASE(name, operation, memory, completion, who, sizes) \
  {"stream_" #name, "stream", operation, "stream", memory, completion, Who::who, Sizes::sizes},
#define GDRKIT_SHMEM_DEVICE_CASE(name, operation, work, scope, groups, completion, who, sizes) \
  {"device_" #name,                                                                            \
   "device",                                                                                   \
   operation,                                                                                  \
   Groups::groups == Groups::one ? #scope : "grid",                                            \
   "",                                                                                         \
   completion,                                                                                 \
   Who::who,                                                                                   \
   Sizes::sizes,                                                                               \
   DeviceWork{platform::ShmemOperation::work, platform::ShmemScope::scope, Groups::groups,     \
              std::strcmp(completion, "quiet") == 0}},
#include "transfer/shmem/bench/cases.def"
  };
  return all;
}

std::size_t nvshmem_scratch_bytes(const Case& one, const SizeRange& range) {
  if (!one.device || one.device->operation != platform::ShmemOperation::reducescatter) return 0;
  // Half of it takes the parts of all PEs, by NVSHMEM's reducescatter.cuh, 3.4 to 3.8.
  constexpr std::size_t own_choice = std::size_t{512} << 10;
  const std::vector<std::size_t> sizes = sizes_of(one, range);
  const std::size_t needed = sizes.empty() ? 0 : 2 * static_cast<std::size_t>(range.n_pes) * sizes.back();
  return needed > own_choice ? needed : 0;
}

std::vector<std::size_t> sizes_of(const Case& one, const SizeRange& range) {
  const std::size_t least = range.smallest_bytes;
  switch (one.sizes) {
    case Sizes::word: return {sizeof(std::uint64_t)};
    case Sizes::sweep: return steps(least, range.largest_bytes, 2);
    case Sizes::few: return steps(least, range.largest_bytes, few_factor);
    case Sizes::small: return steps(least, std::min(range.largest_bytes, largest_small_bytes), few_factor);
    case Sizes::messages: return steps(least, std::min(range.largest_bytes, largest_message_bytes), few_factor);
    case Sizes::bulk: return steps(smallest_bulk_bytes, range.largest_bulk_bytes, bulk_factor);
    case Sizes::wide: return steps(smallest_wide_bytes, range.largest_bulk_bytes, bulk_factor);
    case Sizes::collective: return part_sizes(range, largest_part_bytes);
    case Sizes::parts: return part_sizes(range, range.largest_bytes);
    case Sizes::none: break;
  }
  return {0};
}

}  // namespace gdrkit::transfer::shmem
