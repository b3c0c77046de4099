// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_station.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "measure/bench/measure/copy_pattern.hpp"

namespace gdrkit::measure::bench {
CopyStation::CopyStation(Session* session, platform::Device* device, std::size_t size_bytes)
    : session_(session), device_(device), size_bytes_(size_bytes) {
  try {
    memory_ = std::make_unique<AlignedAllocation>(device, platform::AllocationKind::cuda_malloc,
                                                  std::max(size_bytes, rotation_bytes));
    pageable_ = std::make_unique<HostBuffer>(size_bytes);
    auto pinned = device->allocate(platform::AllocationKind::host, size_bytes);
    if (!pinned.has_value())
      throw CannotMeasure("cannot allocate pinned host memory: " + std::string(pinned.error().text()));
    pinned_ = std::move(*pinned);
    const auto stream = device->create_stream();
    if (!stream.has_value()) throw CannotMeasure("cannot create a stream: " + std::string(stream.error().text()));
    stream_ = *stream;
    buffer_ = std::make_unique<MappedBuffer>(*memory_, GDR_MAP_FLAG_DEFAULT);
  } catch (const cli::Failure& failure) {
    throw CannotMeasure(failure.what());
  } catch (const std::bad_alloc&) {
    throw CannotMeasure(cli::format("cannot allocate %zu bytes of host memory", size_bytes));
  }
  session->set_mapping_type(buffer_->mapping_type());
  const auto stretches = stretches_of(size_bytes);
  for (const Stretch& stretch : stretches) {
    write_pattern(pageable_->data() + stretch.offset, stretch, 0);
    write_pattern(reinterpret_cast<std::uint8_t*>(pinned_.address()) + stretch.offset, stretch, 0);
  }
}

CopyStation::~CopyStation() {
  // Unmap before freeing the memory.
  buffer_.reset();
  if (stream_.handle != 0) (void)device_->destroy_stream(stream_);
}

bool CopyStation::has(const CopyMethod& method) const {
  return method.serves == nullptr || method.serves(*session_, size_bytes_);
}

std::uint8_t* CopyStation::host_of(const CopyMethod& method) const {
  return method.uses_pinned_memory ? reinterpret_cast<std::uint8_t*>(pinned_.address()) : pageable_->data();
}

Contender CopyStation::contender(const CopyMethod& method, Direction direction) {
  return method.contender({session_, device_, stream_, buffer_.get(), memory_->address(), host_of(method), size_bytes_},
                          direction);
}

void CopyStation::verify(const CopyMethod& method, Direction direction, const Contender& contender) {
  if (direction == Direction::to_device) {
    verify_to_device(method, contender);
  } else {
    verify_from_device(method, contender);
  }
}

void CopyStation::verify_to_device(const CopyMethod& method, const Contender& contender) {
  const auto stretches = stretches_of(size_bytes_);
  for (const Stretch& stretch : stretches) {
    write_pattern(host_of(method) + stretch.offset, stretch, 1);
    check_copy(device_->fill(memory_->address() + stretch.offset, 0, stretch.size_bytes), "clearing the device memory");
  }
  contender.run_once(0);
  for (const Stretch& stretch : stretches) {
    std::vector<std::uint8_t> seen(stretch.size_bytes);
    check_copy(device_->copy_to_host(seen.data(), memory_->address() + stretch.offset, seen.size()),
               "reading the device memory");
    check_pattern(seen.data(), stretch, 1, method.name);
  }
}

void CopyStation::verify_from_device(const CopyMethod& method, const Contender& contender) {
  const auto stretches = stretches_of(size_bytes_);
  for (const Stretch& stretch : stretches) {
    std::vector<std::uint8_t> given(stretch.size_bytes);
    write_pattern(given.data(), stretch, 2);
    check_copy(device_->copy_to_device(memory_->address() + stretch.offset, given.data(), given.size()),
               "filling the device memory");
    std::memset(host_of(method) + stretch.offset, 0, stretch.size_bytes);
  }
  contender.run_once(0);
  for (const Stretch& stretch : stretches) {
    check_pattern(host_of(method) + stretch.offset, stretch, 2, method.name);
  }
}

}  // namespace gdrkit::measure::bench
