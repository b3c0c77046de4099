// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RM_CONTROL: the driver compares the parameters' size with its own and rejects a difference with INVALID_PARAM_STRUCT.
#include <cerrno>
#include <cstring>

#include "fakes/fake_rm.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr std::uint32_t surface_size_index = 7, surface_address_space_index = 9;
constexpr std::uint32_t bar1_size_index = 5, bar1_available_index = 0x1d, bar1_contiguous_index = 0x1f;
constexpr std::uint32_t system_memory = 1, video_memory = 2;

std::uint32_t address_space(const RmObject& object) {
  return object.memory->is_video_memory ? video_memory : system_memory;
}

std::uint32_t surface_info(const RmObject& object, void* parameters) {
  const auto count = get<std::uint32_t>(parameters, 0);
  auto* entries = reinterpret_cast<std::uint8_t*>(get<std::uintptr_t>(parameters, 8));
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto index = get<std::uint32_t>(entries, 8 * std::size_t{i});
    std::uint32_t value = 0;
    if (index == surface_size_index) value = static_cast<std::uint32_t>(object.memory->size_bytes() / 4096);
    if (index == surface_address_space_index) value = address_space(object);
    put(entries, 8 * std::size_t{i} + 4, value);
  }
  return rm_status::ok;
}

}  // namespace

int FakeRm::gpu_with_id(std::uint32_t gpu_id) const {
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    if (gpus_[i].gpu_id == gpu_id) return static_cast<int>(i);
  }
  return -1;
}

std::uint32_t FakeRm::control(Handle client, Handle object, std::uint32_t command, void* parameters,
                              std::uint32_t bytes) {
  if (object == client) return client_control(client, command, parameters, bytes);
  const RmObject* found = state_.find(client, object);
  if (found == nullptr) return rm_status::object_not_found;
  if (found->object_class == rm_class::subdevice) return subdevice_control(*found, command, parameters, bytes);
  if (found->memory != nullptr && command == control_command::surface_info) {
    if (bytes != 16 + model_.extra_bytes) return rm_status::invalid_param_struct;
    return surface_info(*found, parameters);
  }
  return rm_status::not_supported;
}

std::uint32_t FakeRm::client_control(Handle client, std::uint32_t command, void* parameters, std::uint32_t bytes) {
  const auto has = [&](std::uint32_t expected) { return bytes == expected + model_.extra_bytes; };
  switch (command) {
    case control_command::attached_ids: {
      if (!has(128)) return rm_status::invalid_param_struct;
      std::memset(parameters, 0xff, 128);
      for (std::size_t i = 0; i < gpus_.size(); ++i) put(parameters, 4 * i, gpus_[i].gpu_id);
      return rm_status::ok;
    }
    case control_command::id_info_v2:
    case control_command::pci_info: {
      const bool is_id_info = command == control_command::id_info_v2;
      if (!has(is_id_info ? 32 : 12)) return rm_status::invalid_param_struct;
      const int gpu = gpu_with_id(get<std::uint32_t>(parameters, 0));
      if (gpu < 0) return rm_status::invalid_argument;
      const FakeGpu& found = gpus_[static_cast<std::size_t>(gpu)];
      if (is_id_info) {
        std::memcpy(parameters, found.id_info().data(), 32);
      } else {
        put(parameters, 4, found.domain);
        put(parameters, 8, std::uint16_t{found.bus});
        put(parameters, 10, std::uint16_t{found.slot});
      }
      return rm_status::ok;
    }
    case control_command::address_space: {
      if (!has(12)) return rm_status::invalid_param_struct;
      const RmObject* object = state_.find(client, get<Handle>(parameters, 0));
      if (object == nullptr || object->memory == nullptr) return rm_status::object_not_found;
      put(parameters, 8, address_space(*object));
      return rm_status::ok;
    }
    case control_command::import_object:
      return has(20) ? import_objects(client, command, parameters) : rm_status::invalid_param_struct;
    case control_command::import_objects:
      return has(652) ? import_objects(client, command, parameters) : rm_status::invalid_param_struct;
    default: return rm_status::not_supported;
  }
}

std::uint32_t FakeRm::import_objects(Handle client, std::uint32_t command, void* parameters) {
  constexpr std::uint32_t object_type_rm = 1;
  const auto file = files_.find(get<std::int32_t>(parameters, 0));
  if (file == files_.end() || file->second.kind != OpenFile::Kind::exported) return rm_status::invalid_argument;
  const auto& memory = file->second.memory;
  if (command == control_command::import_object) {
    if (get<std::uint32_t>(parameters, 4) != object_type_rm) return rm_status::invalid_argument;
    auto object = get<Handle>(parameters, 16);
    const auto status = state_.import(client, get<Handle>(parameters, 12), memory, &object);
    if (status == rm_status::ok) put(parameters, 16, object);
    return status;
  }
  if (get<std::uint16_t>(parameters, 650) != 0 || get<std::uint16_t>(parameters, 648) == 0)
    return rm_status::invalid_argument;
  auto object = get<Handle>(parameters, 8);
  const auto status = state_.import(client, get<Handle>(parameters, 4), memory, &object);
  if (status == rm_status::ok) {
    put(parameters, 8, object);
    put(parameters, 520, static_cast<std::uint8_t>(memory->is_video_memory ? 2 : 1));
    put(parameters, 648, std::uint16_t{1});
  }
  return status;
}

std::uint32_t FakeRm::subdevice_control(const RmObject& subdevice, std::uint32_t command, void* parameters,
                                        std::uint32_t bytes) {
  const auto has = [&](std::uint32_t expected) { return bytes == expected + model_.extra_bytes; };
  switch (command) {
    case control_command::gid_info: {
      if (!has(268)) return rm_status::invalid_param_struct;
      constexpr std::uint32_t binary = 2;
      if (get<std::uint32_t>(parameters, 4) != binary) return rm_status::not_supported;
      const auto& uuid = gpus_[subdevice.gpu].uuid;
      put(parameters, 8, static_cast<std::uint32_t>(uuid.size()));
      std::memcpy(static_cast<std::uint8_t*>(parameters) + 12, uuid.data(), uuid.size());
      return rm_status::ok;
    }
    case control_command::fb_info_v2:
      if (!has(model_.fb_info_bytes)) return rm_status::invalid_param_struct;
      return fb_info_works_ ? fb_info(subdevice.gpu, parameters) : rm_status::not_supported;
    default: return rm_status::not_supported;
  }
}

std::uint32_t FakeRm::fb_info(unsigned gpu, void* parameters) {
  const auto count = get<std::uint32_t>(parameters, 0);
  if (4 + 8 * std::uint64_t{count} > model_.fb_info_bytes) return rm_status::invalid_argument;
  const Bar1Heap& heap = state_.bar1(gpu);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint64_t bytes = 0;
    switch (get<std::uint32_t>(parameters, 4 + 8 * std::size_t{i})) {
      case bar1_size_index: bytes = heap.size(); break;
      case bar1_available_index: bytes = heap.available(); break;
      case bar1_contiguous_index: bytes = heap.largest(); break;
      default: return rm_status::invalid_argument;
    }
    put(parameters, 8 + 8 * std::size_t{i}, static_cast<std::uint32_t>(bytes / 1024));
  }
  return rm_status::ok;
}

}  // namespace gdrkit::fakes
