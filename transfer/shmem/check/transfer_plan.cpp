// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/transfer_plan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "cli/interface/demand.hpp"
#include "cli/interface/exit_code.hpp"
#include "platform/device/device.hpp"
#include "transfer/shmem/check/checker.hpp"

namespace gdrkit::transfer::shmem {
namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;
constexpr std::size_t guard_bytes = 64;
constexpr std::size_t largest_shift = 64;

// Around every width that a CPU or a copy engine moves at once, and around the limits between transports.
constexpr std::size_t small_sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,   12,  15,  16,  17, 24,
                                       31, 32, 33, 63, 64, 65, 72, 127, 128, 129, 200, 255};
constexpr std::size_t local_shifts[] = {0, 1, 2, 3, 4, 8, 13};
constexpr std::size_t remote_shifts[] = {0, 1, 2, 4, 7, 8};
constexpr std::size_t large_sizes[] = {256,          257,      1000,         1 * kib, 1 * kib + 1,  2 * kib,
                                       4 * kib - 1,  4 * kib,  4 * kib + 1,  8 * kib, 16 * kib + 3, 32 * kib,
                                       32 * kib + 1, 64 * kib, 64 * kib + 1, 100'000, 256 * kib,    1 * mib,
                                       1 * mib + 1,  2 * mib,  4 * mib,      8 * mib};
static_assert(large_sizes[std::size(large_sizes) - 1] == largest_planned_bytes);
struct Shifts {
  std::size_t local, remote;
};
constexpr Shifts large_shifts[] = {{0, 0}, {1, 0}, {0, 1}, {3, 5}, {8, 16}, {4, 64}};
/// Of a larger size one alignment is tried, another for each size.
constexpr std::size_t often_tried_bytes = 64 * kib;

void add(TransferPlan* plan, std::size_t size_bytes, Shifts shifts) {
  const std::size_t begin = plan->region_bytes;
  const std::size_t first = begin + guard_bytes;
  plan->transfers.push_back({size_bytes, first + shifts.local, first + shifts.remote, begin});
  const std::size_t end = first + largest_shift + size_bytes;
  plan->region_bytes = (end + guard_bytes - 1) / guard_bytes * guard_bytes;
}

std::size_t offset_of(const PlannedTransfer& transfer, Side side) {
  return side == Side::local ? transfer.local_offset : transfer.remote_offset;
}

}  // namespace

TransferPlan plan_transfers(std::size_t largest_bytes) {
  TransferPlan plan;
  for (const std::size_t size : small_sizes) {
    if (size > largest_bytes) break;
    for (const std::size_t local : local_shifts) {
      for (const std::size_t remote : remote_shifts) add(&plan, size, {local, remote});
    }
  }
  std::size_t turn = 0;
  for (const std::size_t size : large_sizes) {
    if (size > largest_bytes) break;
    const std::size_t tries = size <= often_tried_bytes ? std::size(large_shifts) : 1;
    for (std::size_t tried = 0; tried < tries; ++tried)
      add(&plan, size, large_shifts[turn++ % std::size(large_shifts)]);
  }
  plan.region_bytes += guard_bytes;
  return plan;
}

std::vector<std::uint8_t> region_image(const TransferPlan& plan, Side side, std::uint64_t seed, std::uint8_t filler) {
  std::vector<std::uint8_t> image(plan.region_bytes, filler);
  for (std::size_t number = 0; number < plan.transfers.size(); ++number) {
    const PlannedTransfer& transfer = plan.transfers[number];
    fill_pattern(image.data() + offset_of(transfer, side), transfer.size_bytes, seed + number);
  }
  return image;
}

std::optional<std::string> first_difference(const TransferPlan& plan, Side side, const std::vector<std::uint8_t>& got,
                                            const std::vector<std::uint8_t>& expected) {
  if (std::memcmp(got.data(), expected.data(), expected.size()) == 0) return std::nullopt;
  const auto [wrong, right] = std::mismatch(got.begin(), got.end(), expected.begin());
  const auto at = static_cast<std::size_t>(wrong - got.begin());
  const auto after =
      std::upper_bound(plan.transfers.begin(), plan.transfers.end(), at,
                       [](std::size_t offset, const PlannedTransfer& one) { return offset < one.begin; });
  const PlannedTransfer& transfer = *std::prev(after);
  const std::size_t first = transfer.begin + guard_bytes;
  const std::string which = cli::format("%zu bytes (local + %zu, remote + %zu): ", transfer.size_bytes,
                                        transfer.local_offset - first, transfer.remote_offset - first);
  const std::size_t begin = offset_of(transfer, side);
  if (at < begin)
    return which + cli::format("%zu bytes before its target: ", begin - at) + wrong_byte(0, *wrong, *right);
  const std::size_t end = begin + transfer.size_bytes;
  if (at >= end)
    return which + cli::format("%zu bytes after its target: ", at - end + 1) + wrong_byte(0, *wrong, *right);
  return which + wrong_byte(at - begin, *wrong, *right);
}

LocalRegion::LocalRegion(Checker& checker, LocalKind kind, std::size_t size_bytes)
    : checker_(checker), kind_(kind), size_bytes_(size_bytes) {
  if (kind == LocalKind::host) {
    host_.resize(size_bytes);
    data_ = host_.data();
  } else if (kind == LocalKind::symmetric) {
    symmetric_ = std::make_unique<SymmetricMemory>(checker, size_bytes);
    data_ = symmetric_->data();
  } else {
    const auto allocation_kind =
        kind == LocalKind::pinned ? platform::AllocationKind::host : platform::AllocationKind::cuda_malloc;
    allocation_ = cli::demand(checker.session().device().allocate(allocation_kind, size_bytes), "gdrkit shmem check: ");
    data_ = reinterpret_cast<std::uint8_t*>(allocation_.address());
  }
}

void LocalRegion::assign(const std::vector<std::uint8_t>& bytes) {
  if (kind_ == LocalKind::host || kind_ == LocalKind::pinned) {
    std::ranges::copy(bytes, data_);
  } else {
    checker_.write(data_, bytes.data(), bytes.size());
  }
}

std::vector<std::uint8_t> LocalRegion::bytes() const {
  if (kind_ == LocalKind::host) return host_;
  if (kind_ == LocalKind::pinned) return {data_, data_ + size_bytes_};
  std::vector<std::uint8_t> all(size_bytes_);
  checker_.read(all.data(), data_, size_bytes_);
  return all;
}

}  // namespace gdrkit::transfer::shmem
