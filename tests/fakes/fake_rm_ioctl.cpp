// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The driver's ioctls. A structure of the wrong size is rejected with EINVAL and nothing is written. A rejected
// operation succeeds as a call and returns the error in its status word.
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "fakes/fake_rm.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr std::size_t card_bytes = 72, version_bytes = 72, free_bytes = 16, control_bytes = 32, alloc_bytes = 32,
                      dup_bytes = 28, map_bytes = 56, unmap_bytes = 32, wait_bytes = 8;

}  // namespace

bool FakeRm::has_size(unsigned long request, std::size_t bytes) const {
  return _IOC_SIZE(request) == bytes + model_.extra_bytes;
}

bool FakeRm::is_reachable(const OpenFile& file, Handle client) const {
  const FileId control = file.kind == OpenFile::Kind::control ? file.id : file.linked_control;
  return state_.is_reachable(client, control);
}

int FakeRm::dispatch(OpenFile& file, unsigned long request, void* argument) {
  const bool is_control = file.kind == OpenFile::Kind::control;
  switch (_IOC_NR(request)) {
    case command::card_info: return is_control ? card_info(request, argument) : -EINVAL;
    case command::register_fd: return is_control || !has_size(request, 4) ? -EINVAL : register_fd(file, argument);
    case command::check_version:
      return !is_control || !has_size(request, version_bytes) ? -EINVAL : check_version(argument);
    case command::wait_open: {
      if (!model_.has_wait_open || !has_size(request, wait_bytes)) return -EINVAL;
      std::memset(argument, 0, wait_bytes);
      return 0;
    }
    case command::rm_alloc:
      if (has_size(request, alloc_bytes)) return rm_alloc(file, argument, false);
      return has_size(request, model_.alloc_long_bytes) ? rm_alloc(file, argument, true) : -EINVAL;
    case command::rm_free: return has_size(request, free_bytes) ? rm_free(file, argument) : -EINVAL;
    case command::rm_control: return has_size(request, control_bytes) ? rm_control(file, argument) : -EINVAL;
    case command::rm_dup: return has_size(request, dup_bytes) ? rm_dup(file, argument) : -EINVAL;
    case command::rm_map: return has_size(request, map_bytes) ? rm_map(file, argument) : -EINVAL;
    case command::rm_unmap: return has_size(request, unmap_bytes) ? rm_unmap(file, argument) : -EINVAL;
    default: return -EINVAL;
  }
}

int FakeRm::card_info(unsigned long request, void* argument) {
  const std::size_t size = _IOC_SIZE(request);
  const std::size_t entry = card_bytes + model_.extra_bytes;
  if (size % entry != 0 || size / entry < gpus_.size()) return -EINVAL;
  std::memset(argument, 0, size);
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    std::memcpy(static_cast<std::uint8_t*>(argument) + i * entry, gpus_[i].card().data(), card_bytes);
  }
  return 0;
}

int FakeRm::register_fd(OpenFile& file, void* argument) {
  const auto control = files_.find(get<std::int32_t>(argument, 0));
  if (control == files_.end() || control->second.kind != OpenFile::Kind::control) return -EINVAL;
  if (file.linked_control != 0) return -EINVAL;
  file.linked_control = control->second.id;
  return 0;
}

int FakeRm::check_version(void* argument) {
  constexpr std::uint32_t strict = 0, relaxed = '1', query = '2';
  constexpr std::uint32_t recognized = 1;
  auto* text = static_cast<char*>(argument) + 8;
  const auto command = get<std::uint32_t>(argument, 0);
  put(argument, 4, recognized);
  if (command == query && model_.has_version_query) {
    std::strncpy(text, module_version_.c_str(), 64);
    return 0;
  }
  const std::string ours(text, ::strnlen(text, 64));
  if (command == strict && ours == module_version_) return 0;
  const auto major = [](const std::string& version) { return version.substr(0, version.find('.')); };
  if (command == relaxed && major(ours) == major(module_version_)) return 0;
  put(argument, 4, std::uint32_t{0});
  return -EINVAL;
}

int FakeRm::rm_alloc(const OpenFile& file, void* argument, bool is_long) {
  const auto object_class = get<std::uint32_t>(argument, 12);
  auto handle = get<Handle>(argument, 8);
  std::uint32_t status = rm_status::ok;
  if (object_class == rm_class::root) {
    // A client belongs to a control file; a device file has no clients.
    if (file.kind != OpenFile::Kind::control) return -EINVAL;
    handle = state_.add_client(file.id, process_id);
  } else {
    const auto root = get<Handle>(argument, 0);
    const auto* parameters = reinterpret_cast<const void*>(get<std::uintptr_t>(argument, 16));
    status = is_reachable(file, root) ? state_.allocate(root, get<Handle>(argument, 4), object_class, parameters,
                                                        gpus_open_in_process(), &handle)
                                      : rm_status::invalid_client;
  }
  if (status == rm_status::ok) put(argument, 8, handle);
  // The long form has the rights' address before the flags.
  put(argument, is_long ? (model_.alloc_status_at == 24 ? 36 : 40) : model_.alloc_status_at, status);
  return 0;
}

int FakeRm::rm_free(const OpenFile& file, void* argument) {
  const auto root = get<Handle>(argument, 0);
  const auto status =
      is_reachable(file, root) ? state_.free(root, get<Handle>(argument, 8)) : rm_status::invalid_client;
  put(argument, 12, status);
  return 0;
}

int FakeRm::rm_dup(const OpenFile& file, void* argument) {
  const auto client = get<Handle>(argument, 0);
  auto object = get<Handle>(argument, 8);
  std::uint32_t status = rm_status::invalid_client;
  if (is_reachable(file, client)) {
    status = state_.duplicate(client, get<Handle>(argument, 4), get<Handle>(argument, 12), get<Handle>(argument, 16),
                              &object);
  }
  if (status == rm_status::ok) put(argument, 8, object);
  put(argument, 24, status);
  return 0;
}

int FakeRm::rm_map(const OpenFile& file, void* argument) {
  const auto client = get<Handle>(argument, 0);
  const auto device_file = files_.find(get<std::int32_t>(argument, 48));
  std::uint32_t status = rm_status::ok;
  if (!is_reachable(file, client)) {
    status = rm_status::invalid_client;
  } else if (device_file == files_.end() || device_file->second.kind != OpenFile::Kind::device) {
    status = rm_status::invalid_argument;
  } else if (device_file->second.mapping != nullptr) {
    status = rm_status::state_in_use;
  } else {
    std::shared_ptr<RmMapping> mapping;
    status = state_.map(client, get<Handle>(argument, 4), get<Handle>(argument, 8), get<std::uint64_t>(argument, 16),
                        get<std::uint64_t>(argument, 24), device_file->second.gpu, &mapping);
    if (status == rm_status::ok) {
      put(argument, 32, mapping->linear_address);
      // Bit 16 as observed on 580.159.04; bits 25:23 contain the caching type.
      const std::uint32_t reported = 0x10000u | caching_ << 23;
      if (model_.reports_caching) put(argument, 44, get<std::uint32_t>(argument, 44) | reported);
      device_file->second.mapping = std::move(mapping);
    }
  }
  put(argument, 40, status);
  return 0;
}

int FakeRm::rm_unmap(const OpenFile& file, void* argument) {
  const auto client = get<Handle>(argument, 0);
  std::uint32_t status = rm_status::invalid_client;
  if (is_reachable(file, client)) {
    status = state_.unmap(client, get<Handle>(argument, 4), get<Handle>(argument, 8), get<std::uint64_t>(argument, 16));
  }
  put(argument, 24, status);
  return 0;
}

int FakeRm::rm_control(const OpenFile& file, void* argument) {
  const auto client = get<Handle>(argument, 0);
  std::uint32_t status = rm_status::invalid_client;
  if (is_reachable(file, client)) {
    auto* parameters = reinterpret_cast<void*>(get<std::uintptr_t>(argument, 16));
    status = control(client, get<Handle>(argument, 4), get<std::uint32_t>(argument, 8), parameters,
                     get<std::uint32_t>(argument, 24));
  }
  put(argument, 28, status);
  return 0;
}

}  // namespace gdrkit::fakes
