// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/bench/case.hpp"

namespace gdrkit::tools::pgas {
namespace {

constexpr std::size_t smallest_bulk_bytes = std::size_t{1} << 20;
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

}  // namespace

std::string Case::title() const {
  std::string text = operation;
  const bool reads = text == "get" || text == "g";
  if (*memory != '\0') text += std::string(reads ? " to " : " from ") + memory + " memory";
  if (*completion != '\0') text += std::string(", ") + completion;
  return text;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> all = {
#define GDRKIT_SHMEM_CASE(name, operation, memory, completion, who, sizes) \
  {#name, operation, memory, completion, Who::who, Sizes::sizes},
#include "transfer/shmem/bench/cases.def"
#undef GDRKIT_SHMEM_CASE
  };
  return all;
}

std::vector<std::size_t> sizes_of(const Case& one, const SizeRange& range) {
  switch (one.sizes) {
    case Sizes::word: return {sizeof(std::uint64_t)};
    case Sizes::sweep: return steps(range.smallest_bytes, range.largest_bytes, 2);
    case Sizes::few: return steps(range.smallest_bytes, range.largest_bytes, few_factor);
    case Sizes::bulk: return steps(smallest_bulk_bytes, range.largest_bulk_bytes, bulk_factor);
    case Sizes::none: break;
  }
  return {0};
}

}  // namespace gdrkit::tools::pgas
