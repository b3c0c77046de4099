// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/rm_state.hpp"

#include <algorithm>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {

RmState::RmState(const DriverModel& model, const std::vector<FakeGpu>& gpus, Violations& violations)
    : model_(model), gpus_(gpus), violations_(violations) {
  for (const FakeGpu& gpu : gpus) bar1_.emplace_back(gpu.bar1_address, gpu.bar1_bytes);
}

Handle RmState::add_client(FileId control_file, int pid) {
  const Handle handle = next_client_++;
  clients_[handle] = {control_file, pid, {}};
  return handle;
}

void RmState::close_control_file(FileId control_file) {
  for (auto client = clients_.begin(); client != clients_.end();) {
    if (client->second.control_file == control_file) {
      free_tree(client->first, client->second, client->first);
      client = clients_.erase(client);
    } else {
      ++client;
    }
  }
}

bool RmState::is_reachable(Handle client, FileId control_file) const {
  const auto found = clients_.find(client);
  return found != clients_.end() && found->second.control_file == control_file;
}

const RmObject* RmState::find(Handle client, Handle object) const {
  const auto owner = clients_.find(client);
  if (owner == clients_.end()) return nullptr;
  const auto found = owner->second.objects.find(object);
  return found == owner->second.objects.end() ? nullptr : &found->second;
}

std::size_t RmState::objects() const noexcept {
  std::size_t sum = 0;
  for (const auto& [handle, client] : clients_) sum += client.objects.size();
  return sum;
}

std::uint32_t RmState::add(Handle client, const RmObject& object, Handle* new_handle) {
  auto& objects = clients_[client].objects;
  if (*new_handle == 0) *new_handle = next_object_++;
  if (*new_handle == client || objects.contains(*new_handle)) return rm_status::duplicate_name;
  objects[*new_handle] = object;
  return rm_status::ok;
}

std::uint32_t RmState::allocate(Handle client, Handle parent, std::uint32_t object_class, const void* parameters,
                                const std::vector<unsigned>& gpus_open_in_process, Handle* new_handle) {
  if (!clients_.contains(client)) return rm_status::invalid_client;
  if (object_class == rm_class::device) {
    if (parent != client) return rm_status::invalid_object_parent;
    const auto instance = parameters == nullptr ? 0 : get<std::uint32_t>(parameters, 0);
    for (unsigned gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (gpus_[gpu].device_instance != instance) continue;
      const bool is_open = std::count(gpus_open_in_process.begin(), gpus_open_in_process.end(), gpu) != 0;
      if (!is_open) return rm_status::insufficient_permissions;
      return add(client, {parent, object_class, gpu, nullptr}, new_handle);
    }
    return rm_status::invalid_argument;
  }
  if (object_class == rm_class::subdevice) {
    const RmObject* device = find(client, parent);
    if (device == nullptr || device->object_class != rm_class::device) return rm_status::invalid_object_parent;
    if (parameters != nullptr && get<std::uint32_t>(parameters, 0) != 0) return rm_status::invalid_argument;
    return add(client, {parent, object_class, device->gpu, nullptr}, new_handle);
  }
  return rm_status::invalid_class;
}

void RmState::place(Handle client, Handle object, const std::shared_ptr<PhysicalMemory>& memory) {
  clients_[client].objects[object] = {client, rm_class::memory, memory->gpu(), memory};
}

std::uint32_t RmState::add_memory(Handle client, Handle parent, const std::shared_ptr<PhysicalMemory>& memory,
                                  Handle* new_handle) {
  const RmObject* under = find(client, parent);
  if (under == nullptr) return rm_status::invalid_object_parent;
  const auto needed = memory->needs_subdevice_parent ? rm_class::subdevice : under->object_class;
  const bool is_place = under->object_class == rm_class::device || under->object_class == rm_class::subdevice;
  if (!is_place || under->object_class != needed || under->gpu != memory->gpu())
    return rm_status::invalid_object_parent;
  return add(client, {parent, rm_class::memory, memory->gpu(), memory}, new_handle);
}

std::uint32_t RmState::duplicate(Handle client, Handle parent, Handle source_client, Handle source,
                                 Handle* new_handle) {
  const auto from = clients_.find(source_client);
  if (!clients_.contains(client) || from == clients_.end()) return rm_status::invalid_client;
  const RmObject* object = find(source_client, source);
  if (object == nullptr || object->memory == nullptr) return rm_status::object_not_found;
  // The default policy shares with clients of the same process only.
  if (from->second.pid != clients_[client].pid) return rm_status::insufficient_permissions;
  return add_memory(client, parent, object->memory, new_handle);
}

std::uint32_t RmState::import(Handle client, Handle parent, const std::shared_ptr<PhysicalMemory>& memory,
                              Handle* new_handle) {
  if (!clients_.contains(client)) return rm_status::invalid_client;
  return add_memory(client, parent, memory, new_handle);
}

std::uint32_t RmState::map(Handle client, Handle device, Handle memory, std::uint64_t offset, std::uint64_t length,
                           unsigned file_gpu, std::shared_ptr<RmMapping>* mapping) {
  if (!clients_.contains(client)) return rm_status::invalid_client;
  const RmObject* through = find(client, device);
  const RmObject* object = find(client, memory);
  if (object == nullptr || object->memory == nullptr) return rm_status::invalid_object_handle;
  if (through == nullptr || through->memory != nullptr || through->gpu != object->gpu) return rm_status::invalid_device;
  if (file_gpu != object->gpu) return rm_status::invalid_argument;
  const std::uint64_t size = object->memory->size_bytes();
  if (offset >= size) return rm_status::invalid_base;
  if (length == 0 || length > size - offset) return rm_status::invalid_limit;
  if (object->memory->is_unmappable) return rm_status::not_supported;
  if (table_is_full) return rm_status::insufficient_resources;
  const std::uint64_t unit = object->memory->page_bytes();
  const std::uint64_t gpu_first = round_down(offset, unit);
  auto bar1 = bar1_[object->gpu].take(round_up(offset + length, unit) - gpu_first, unit, model_.maps_discontiguously);
  if (!bar1) return rm_status::no_memory;
  auto made = std::make_shared<RmMapping>();
  made->client = client;
  made->memory_handle = memory;
  made->gpu = object->gpu;
  made->linear_address = bar1->front().first + (offset - gpu_first);
  made->first = round_down(offset, host_page);
  made->length = round_up(offset + length, host_page) - made->first;
  made->memory = object->memory;
  made->bar1 = std::move(*bar1);
  mappings_.push_back(made);
  *mapping = std::move(made);
  return rm_status::ok;
}

std::uint32_t RmState::unmap(Handle client, Handle device, Handle memory, std::uint64_t linear_address) {
  if (!clients_.contains(client)) return rm_status::invalid_client;
  if (find(client, device) == nullptr) return rm_status::invalid_device;
  const auto found = std::find_if(mappings_.begin(), mappings_.end(), [&](const auto& mapping) {
    return mapping->client == client && mapping->memory_handle == memory && mapping->linear_address == linear_address;
  });
  if (found == mappings_.end()) return rm_status::object_not_found;
  end(**found, "RM_UNMAP_MEMORY");
  mappings_.erase(found);
  return rm_status::ok;
}

void RmState::end(RmMapping& mapping, const std::string& by) {
  if (mapping.vmas > 0) violations_.add(by + " while the memory is still mmapped");
  bar1_[mapping.gpu].release(mapping.bar1);
  mapping.is_live = false;
}

void RmState::free_tree(Handle client_handle, Client& client, Handle object) {
  std::vector<Handle> children;
  for (const auto& [handle, child] : client.objects) {
    if (child.parent == object) children.push_back(handle);
  }
  for (const Handle child : children) free_tree(client_handle, client, child);
  for (const auto& mapping : mappings_) {
    if (mapping->client == client_handle && mapping->memory_handle == object) {
      end(*mapping, "RM_FREE or close of the control file");
    }
  }
  std::erase_if(mappings_, [](const auto& mapping) { return !mapping->is_live; });
  client.objects.erase(object);
}

std::uint32_t RmState::free(Handle client, Handle object) {
  const auto owner = clients_.find(client);
  if (owner == clients_.end()) return rm_status::invalid_client;
  if (object != client && !owner->second.objects.contains(object)) return rm_status::object_not_found;
  free_tree(client, owner->second, object);
  if (object == client) clients_.erase(owner);
  return rm_status::ok;
}

}  // namespace gdrkit::fakes
