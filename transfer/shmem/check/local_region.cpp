// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "transfer/shmem/check/local_region.hpp"

#include <algorithm>
#include <utility>

#include "platform/device/device.hpp"

namespace gdrkit::transfer::shmem {

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
    auto allocated = checker.session().device().allocate(allocation_kind, size_bytes);
    if (!allocated)
      throw cli::Failure(cli::ExitCode::failed, cli::format("gdrkit shmem check: %s", allocated.error().text()));
    allocation_ = std::move(*allocated);
    data_ = reinterpret_cast<std::uint8_t*>(allocation_.address());
  }
}

void LocalRegion::assign(const std::vector<std::uint8_t>& bytes) {
  if (kind_ == LocalKind::host || kind_ == LocalKind::pinned) {
    std::copy(bytes.begin(), bytes.end(), data_);
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
