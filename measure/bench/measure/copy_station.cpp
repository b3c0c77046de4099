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
namespace {

Series series_of(const CopyScene& scene, const CopyMethod& method, Direction direction) {
  const std::string group = scene.section + "/" + direction_name(direction);
  Series series;
  series.id = group + "/" + method.name;
  series.group = group;
  series.title = std::string(method.title) +
                 (direction == Direction::to_device ? ", to the device" : ", from the device") + scene.title_end;
  series.operation = "copy";
  series.direction = direction_name(direction);
  series.method = method.name;
  series.conditions = scene.conditions;
  series.x_name = "size_bytes";
  series.unit = "ns";
  if (&method != &copy_methods::raw) series.control = group + "/" + copy_methods::raw.name;
  return series;
}

void measure_copies(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes,
                    const Effort& effort, Collector* collector) {
  CopyStation station(session, session->device(), size_bytes);
  std::vector<Contender> contenders;
  std::vector<const CopyMethod*> methods;
  for (const CopyMethod* method : scene.methods) {
    if (!station.has(*method)) {
      if (session->has_raw()) collector->note("raw loops support powers of two only");
      continue;
    }
    contenders.push_back(station.contender(*method, direction));
    methods.push_back(method);
    station.verify(*method, direction, contenders.back());
  }
  const std::unique_ptr<Disturbance> disturbance = scene.disturb ? scene.disturb() : nullptr;
  const std::vector<Measured> measured =
      measure_rounds(contenders, effort.request(slow_copy_ns(size_bytes)), session->clock());
  if (disturbance != nullptr && !disturbance->complaint().empty()) cli::fail(disturbance->complaint());
  for (std::size_t index = 0; index < methods.size(); ++index) {
    Series series = series_of(scene, *methods[index], direction);
    if (!session->has_raw()) series.control.clear();
    collector->add(series, make_point(static_cast<double>(size_bytes), measured[index], 1));
  }
}

}  // namespace

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
    std::vector<std::uint8_t> content(stretch.size_bytes);
    write_pattern(content.data(), stretch, 2);
    check_copy(device_->copy_to_device(memory_->address() + stretch.offset, content.data(), content.size()),
               "filling the device memory");
    std::memset(host_of(method) + stretch.offset, 0, stretch.size_bytes);
  }
  contender.run_once(0);
  for (const Stretch& stretch : stretches) {
    check_pattern(host_of(method) + stretch.offset, stretch, 2, method.name);
  }
}

Cell copy_cell(Session* session, const CopyScene& scene, Direction direction, std::size_t size_bytes) {
  return {scene.section + " " + direction_name(direction) + " " + cli::size_text(size_bytes),
          [=](const Effort& effort, Collector* collector) {
            measure_copies(session, scene, direction, size_bytes, effort, collector);
          }};
}

std::vector<Cell> busy_cells(Session* session, CopyScene scene) {
  scene.methods = {&copy_methods::mapping, &copy_methods::raw, &copy_methods::memcpy_async_pinned};
  std::vector<Cell> cells;
  for (const Direction direction : {Direction::to_device, Direction::from_device}) {
    for (const std::size_t size : session->sizes_or({8, 4096, 65536, std::size_t{1} << 20})) {
      cells.push_back(copy_cell(session, scene, direction, size));
    }
  }
  return cells;
}

}  // namespace gdrkit::measure::bench
