// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "shmem/heap/block_list.hpp"

#include <iterator>

namespace gdrkit::shmem_impl::heap {
namespace {

constexpr std::uint64_t whole(std::uint64_t size_bytes) noexcept { return round_up(size_bytes, BlockList::unit_bytes); }

}  // namespace

void BlockList::extend(std::uint64_t size_bytes) {
  add_free(end_, size_bytes);
  end_ += size_bytes;
}

void BlockList::shrink(std::uint64_t size_bytes) {
  end_ -= size_bytes;
  const auto last = std::prev(free_.end());
  if (last->first >= end_) {
    free_.erase(last);
  } else {
    last->second = end_ - last->first;
  }
}

std::optional<std::uint64_t> BlockList::take(std::uint64_t size_bytes, std::uint64_t alignment) {
  const std::uint64_t required = whole(size_bytes);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [start, size] = *range;
    const std::uint64_t offset = round_up(start, alignment);
    if (offset - start > size || size - (offset - start) < required) continue;
    // Insert first: if the insertion is out of memory, nothing has changed.
    taken_.emplace(offset, size_bytes);
    const std::uint64_t behind = start + size - offset - required;
    if (behind != 0) free_.emplace(offset + required, behind);
    if (offset == start) {
      free_.erase(range);
    } else {
      range->second = offset - start;
    }
    taken_bytes_ += required;
    return offset;
  }
  return std::nullopt;
}

std::uint64_t BlockList::missing_bytes(std::uint64_t size_bytes, std::uint64_t alignment) const {
  std::uint64_t start = end_;
  if (!free_.empty()) {
    const auto last = std::prev(free_.end());
    if (last->first + last->second == end_) start = last->first;
  }
  const std::uint64_t required_end = round_up(start, alignment) + whole(size_bytes);
  return required_end > end_ ? required_end - end_ : 0;
}

bool BlockList::release(std::uint64_t offset) {
  const auto found = taken_.find(offset);
  if (found == taken_.end()) return false;
  const std::uint64_t size = whole(found->second);
  add_free(offset, size);
  taken_.erase(found);
  taken_bytes_ -= size;
  return true;
}

std::optional<Block> BlockList::find(std::uint64_t offset) const {
  auto after = taken_.upper_bound(offset);
  if (after == taken_.begin()) return std::nullopt;
  const auto [start, size] = *std::prev(after);
  if (offset - start >= whole(size)) return std::nullopt;
  return Block{start, size};
}

void BlockList::add_free(std::uint64_t offset, std::uint64_t size_bytes) {
  auto [range, is_new] = free_.emplace(offset, size_bytes);
  const auto next = std::next(range);
  if (next != free_.end() && offset + size_bytes == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  const auto before = std::prev(range);
  if (before->first + before->second == offset) {
    before->second += range->second;
    free_.erase(range);
  }
}

}  // namespace gdrkit::shmem_impl::heap
