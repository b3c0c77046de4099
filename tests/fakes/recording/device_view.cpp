// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/device_view.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {

void DeviceView::saw_export(std::uint64_t address, const driver::ObservedExport& observed) {
  for (const driver::ObservedIoctl& seen : observed.ioctls) {
    const auto layout = export_layout(seen.argument.size());
    if (!layout) continue;
    const void* bytes = seen.argument.data();
    const std::size_t count = std::min<std::size_t>(layout->most_objects, get<std::uint32_t>(bytes, 12));
    for (std::size_t i = 0; i < count; ++i) {
      object_start_[get<std::uint32_t>(bytes, layout->handles + 4 * i)] =
          address - get<std::uint64_t>(bytes, layout->offsets + 8 * i);
      address += get<std::uint64_t>(bytes, layout->sizes + 8 * i);
    }
  }
}

void DeviceView::saw_ioctl(unsigned long request, const void* argument) {
  switch (_IOC_NR(request)) {
    case command::rm_dup: {
      const auto source = object_start_.find(get<std::uint32_t>(argument, 16));
      if (source != object_start_.end()) object_start_[get<std::uint32_t>(argument, 8)] = source->second;
      break;
    }
    case command::rm_control: {
      if (get<std::uint32_t>(argument, 8) != control_command::import_object) break;
      const void* parameters = reinterpret_cast<const void*>(get<std::uintptr_t>(argument, 16));
      object_start_[get<std::uint32_t>(parameters, 16)] = blocks_[exported_[get<std::int32_t>(parameters, 0)]];
      break;
    }
    case command::rm_map: {
      const auto object = object_start_.find(get<std::uint32_t>(argument, 8));
      if (object == object_start_.end()) break;
      file_start_[get<std::int32_t>(argument, 48)] =
          round_down(object->second + get<std::uint64_t>(argument, 16), host_page);
      break;
    }
    default: break;
  }
}

void DeviceView::saw_mmap(int fd, void* mapped, std::size_t length) {
  const auto file = file_start_.find(fd);
  if (file != file_start_.end()) shown_.push_back({file->second, static_cast<std::uint8_t*>(mapped), length});
}

void DeviceView::saw_munmap(const void* first, std::size_t length) {
  const auto* begin = static_cast<const std::uint8_t*>(first);
  std::erase_if(shown_, [&](const Shown& shown) { return shown.mapped >= begin && shown.mapped < begin + length; });
}

void DeviceView::write(std::uint64_t address, std::size_t pitch, std::size_t width,
                       const std::vector<std::uint8_t>& bytes) {
  for (std::size_t row = 0; row * width < bytes.size(); ++row) {
    for (std::size_t i = 0; i < width && row * width + i < bytes.size(); ++i) {
      const std::uint64_t at = address + row * pitch + i;
      for (const Shown& shown : shown_) {
        if (at - shown.device_address < shown.length) shown.mapped[at - shown.device_address] = bytes[row * width + i];
      }
    }
  }
}

}  // namespace gdrkit::fakes
