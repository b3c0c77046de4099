// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "measure/bench/measure/copy_station.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "base/result.hpp"
#include "measure/bench/measure/pattern.hpp"
#include "platform/host/stopwatch.hpp"

namespace gdrkit::measure::bench {
namespace {

// A copy through a mapping returns whether it copied, without an object that would cost time; one by the driver its
// error.
void check(bool is_copied, const char* name) {
  if (!is_copied) throw cli::Failure(cli::ExitCode::failed, std::string("a copy failed: ") + name);
}
void check(const base::Status& copied, const char* name) {
  if (copied.has_value()) return;
  throw cli::Failure(cli::ExitCode::failed, std::string("a copy failed: ") + name + ": " + copied.error().text());
}
void note_copy(bool& is_copied, bool next) { is_copied &= next; }
void note_copy(base::Status& copied, base::Status next) { base::keep_first(copied, std::move(next)); }

template <class Copied>
Copied none_failed() {
  if constexpr (std::is_same_v<Copied, bool>) return true;
  return Copied();
}

/// A contender of `once(number)`, which is inlined into the timed loop.
template <class Once>
Contender contender_of(const char* name, Once once) {
  Contender contender;
  contender.name = name;
  contender.run_batch = [once, name](std::size_t count) {
    auto copied = none_failed<std::invoke_result_t<Once, std::size_t>>();
    const double ns = platform::time_batch(count, [&](std::size_t number) { note_copy(copied, once(number)); });
    check(copied, name);
    return ns;
  };
  contender.run_once = [once, name](std::size_t number) { check(once(number), name); };
  return contender;
}

bool is_power_of_two(std::size_t size) { return (size & (size - 1)) == 0; }

}  // namespace

const char* method_name(Method method) {
  switch (method) {
    case Method::mapping: return "mapping";
    case Method::raw: return "raw";
    case Method::memcpy_pageable: return "memcpy_pageable";
    case Method::memcpy_pinned: return "memcpy_pinned";
    case Method::memcpy_async_pageable: return "memcpy_async_pageable";
    case Method::memcpy_async_pinned: return "memcpy_async_pinned";
  }
  return "";
}

std::string method_title(Method method) {
  switch (method) {
    case Method::mapping: return "through the mapping";
    case Method::raw: return "raw loop on the mapping";
    case Method::memcpy_pageable: return "cudaMemcpy, pageable";
    case Method::memcpy_pinned: return "cudaMemcpy, pinned";
    case Method::memcpy_async_pageable: return "cudaMemcpyAsync + synchronize, pageable";
    case Method::memcpy_async_pinned: return "cudaMemcpyAsync + synchronize, pinned";
  }
  return "";
}

CopyStation::CopyStation(Session* session, platform::Device* device, std::size_t size_bytes)
    : session_(session), device_(device), size_bytes_(size_bytes) {
  try {
    memory_ = std::make_unique<AlignedAllocation>(device, platform::AllocationKind::cuda_malloc,
                                                  std::max(size_bytes, rotation_bytes));
    pageable_ = std::make_unique<HostBuffer>(size_bytes);
    auto pinned = device->allocate(platform::AllocationKind::host, size_bytes);
    if (!pinned.has_value()) throw CannotMeasure("no pinned host memory: " + std::string(pinned.error().text()));
    pinned_ = std::move(*pinned);
    const auto stream = device->create_stream();
    if (!stream.has_value()) throw CannotMeasure("no stream: " + std::string(stream.error().text()));
    stream_ = *stream;
    buffer_ = std::make_unique<MappedBuffer>(*memory_, GDR_MAP_FLAG_DEFAULT);
  } catch (const cli::Failure& failure) {
    throw CannotMeasure(failure.what());
  } catch (const std::bad_alloc&) {
    throw CannotMeasure(cli::format("no host memory for %zu bytes", size_bytes));
  }
  const char* type = "";
  (void)gdr_get_mapping_type_string(buffer_->info().mapping_type, &type);
  session->set_mapping_type(type);
  const auto stretches = stretches_of(size_bytes);
  for (const Stretch& stretch : stretches) {
    write_pattern(pageable_->data() + stretch.offset, stretch, 0);
    write_pattern(reinterpret_cast<std::uint8_t*>(pinned_.address()) + stretch.offset, stretch, 0);
  }
}

CopyStation::~CopyStation() {
  // Unmaps before the memory goes.
  buffer_.reset();
  if (stream_.handle != 0) (void)device_->destroy_stream(stream_);
}

bool CopyStation::has(Method method) const {
  return method != Method::raw || (session_->has_raw() && is_power_of_two(size_bytes_));
}

std::uint8_t* CopyStation::host_of(Method method) const {
  const bool is_pinned = method == Method::memcpy_pinned || method == Method::memcpy_async_pinned;
  return is_pinned ? reinterpret_cast<std::uint8_t*>(pinned_.address()) : pageable_->data();
}

Contender CopyStation::contender(Method method, Direction direction) {
  if (method == Method::mapping) return mapping_contender(direction);
  return method == Method::raw ? raw_contender(direction) : driver_contender(method, direction);
}

Contender CopyStation::mapping_contender(Direction direction) {
  const gdr_mh_t handle = buffer_->handle();
  std::uint8_t* const device_side = buffer_->user_pointer();
  std::uint8_t* const host_side = pageable_->data();
  const std::size_t size = size_bytes_;
  const Rotation rotation(direction, size);
  const auto write = [=](std::size_t) { return gdr_copy_to_mapping(handle, device_side, host_side, size) == 0; };
  const auto read = [=](std::size_t number) {
    return gdr_copy_from_mapping(handle, host_side, device_side + rotation.offset(number), size) == 0;
  };
  const char* const name = method_name(Method::mapping);
  return direction == Direction::to_device ? contender_of(name, write) : contender_of(name, read);
}

Contender CopyStation::raw_contender(Direction direction) const {
  std::uint8_t* const device_side = buffer_->user_pointer();
  std::uint8_t* const host_side = pageable_->data();
  const std::size_t size = size_bytes_;
  const measure::RawKind kind = session_->raw_kind();
  const Rotation rotation(direction, size);
  const char* const name = method_name(Method::raw);
  if (direction == Direction::from_device && rotation.is_rotating()) {
    return contender_of(name, [=](std::size_t number) {
      return measure::raw_load(kind, host_side, device_side + rotation.offset(number), size, 1);
    });
  }
  const auto copy = [=](std::size_t iterations) {
    return direction == Direction::to_device ? measure::raw_store(kind, device_side, host_side, size, iterations)
                                             : measure::raw_load(kind, host_side, device_side, size, iterations);
  };
  // The loop over iterations is inside, so that none pays for a call.
  Contender contender;
  contender.name = name;
  contender.run_batch = [=](std::size_t count) {
    bool is_copied = true;
    const double ns = platform::time_batch(1, [&](std::size_t) { is_copied = copy(count); });
    check(is_copied, name);
    return ns / static_cast<double>(count);
  };
  contender.run_once = [=](std::size_t) { check(copy(1), name); };
  return contender;
}

Contender CopyStation::driver_contender(Method method, Direction direction) const {
  platform::Device* const device = device_;
  const std::uint64_t address = memory_->address();
  std::uint8_t* const host = host_of(method);
  const std::size_t size = size_bytes_;
  const platform::Stream stream = stream_;
  const char* const name = method_name(method);
  const bool is_to_device = direction == Direction::to_device;
  if (method == Method::memcpy_pageable || method == Method::memcpy_pinned) {
    if (is_to_device) {
      return contender_of(name, [=](std::size_t) { return device->driver_copy_to_device(address, host, size); });
    }
    return contender_of(name, [=](std::size_t) { return device->driver_copy_to_host(host, address, size); });
  }
  if (is_to_device) {
    return contender_of(name, [=](std::size_t) {
      base::Status begun = device->copy_to_device_async(address, host, size, stream);
      return begun.has_value() ? device->synchronize(stream) : begun;
    });
  }
  return contender_of(name, [=](std::size_t) {
    base::Status begun = device->copy_to_host_async(host, address, size, stream);
    return begun.has_value() ? device->synchronize(stream) : begun;
  });
}

void CopyStation::verify(Method method, Direction direction, const Contender& contender) {
  if (direction == Direction::to_device) {
    verify_to_device(method, contender);
  } else {
    verify_from_device(method, contender);
  }
}

void CopyStation::verify_to_device(Method method, const Contender& contender) {
  const auto stretches = stretches_of(size_bytes_);
  for (const Stretch& stretch : stretches) {
    write_pattern(host_of(method) + stretch.offset, stretch, 1);
    check(device_->fill(memory_->address() + stretch.offset, 0, stretch.size_bytes), "clearing the device memory");
  }
  contender.run_once(0);
  for (const Stretch& stretch : stretches) {
    std::vector<std::uint8_t> seen(stretch.size_bytes);
    check(device_->copy_to_host(seen.data(), memory_->address() + stretch.offset, seen.size()),
          "reading the device memory");
    check_pattern(seen.data(), stretch, 1, method_name(method));
  }
}

void CopyStation::verify_from_device(Method method, const Contender& contender) {
  const auto stretches = stretches_of(size_bytes_);
  for (const Stretch& stretch : stretches) {
    std::vector<std::uint8_t> given(stretch.size_bytes);
    write_pattern(given.data(), stretch, 2);
    check(device_->copy_to_device(memory_->address() + stretch.offset, given.data(), given.size()),
          "filling the device memory");
    std::memset(host_of(method) + stretch.offset, 0, stretch.size_bytes);
  }
  contender.run_once(0);
  for (const Stretch& stretch : stretches) {
    check_pattern(host_of(method) + stretch.offset, stretch, 2, method_name(method));
  }
}

}  // namespace gdrkit::measure::bench
