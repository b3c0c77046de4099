// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// The module's ioctls, with their published numbers and offsets, and the checks in the module's order.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "driver/emulated_memory.hpp"
#include "fakes/fake_gdrdrv.hpp"
#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

constexpr std::uint64_t gpu_page = 65536;
constexpr std::uint64_t gpu_page_mask = gpu_page - 1;

namespace number {
enum Number : unsigned {
  pin_buffer = 1,
  unpin_buffer = 2,
  get_cb_flag = 3,
  get_info = 4,
  get_info_v2 = 5,
  get_attr = 6,
  pin_buffer_v2 = 7,
  req_mapping_type = 8,
  get_version = 255,
};
}  // namespace number

struct Ioctl {
  unsigned number;
  std::size_t size_in_word;
  std::uint32_t since;
  const char* name;
};

constexpr Ioctl ioctls[] = {
    {number::pin_buffer, 40, 0x0002'0000, "PIN_BUFFER"},
    {number::unpin_buffer, 8, 0x0002'0000, "UNPIN_BUFFER"},
    {number::get_cb_flag, 8, 0x0002'0000, "GET_CB_FLAG"},
    {number::get_info, 8, 0x0002'0000, "GET_INFO"},
    {number::get_info_v2, 8, 0x0002'0004, "GET_INFO_V2"},
    {number::get_attr, 8, 0x0002'0005, "GET_ATTR"},
    {number::pin_buffer_v2, 32, 0x0002'0005, "PIN_BUFFER_V2"},
    {number::req_mapping_type, 8, 0x0002'0005, "REQ_MAPPING_TYPE"},
    {number::get_version, 8, 0x0002'0000, "GET_VERSION"},
};

const Ioctl* ioctl_of(unsigned number, std::size_t size, std::uint32_t version) {
  for (const Ioctl& entry : ioctls) {
    if (entry.number == number && entry.size_in_word == size && version >= entry.since) return &entry;
  }
  return nullptr;
}

}  // namespace

std::string FakeGdrdrv::relative(std::uint64_t address) const {
  char text[40];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(address - log_base_));
  return text;
}

int FakeGdrdrv::ioctl(int fd, unsigned long request, void* argument) noexcept {
  const std::lock_guard lock(mutex_);
  notice_frees();
  int number = 0;
  Open* open = open_of(fd, &number);
  if (open == nullptr) return -EBADF;
  if (_IOC_TYPE(request) != 0xda) return -EINVAL;
  if (open->owner != ::getpid()) return -EACCES;
  if (_IOC_DIR(request) != (_IOC_READ | _IOC_WRITE)) return -ENOTTY;
  const Ioctl* entry = ioctl_of(_IOC_NR(request), _IOC_SIZE(request), model_.version);
  if (entry == nullptr) return -ENOTTY;
  note(entry->name);
  const int result = dispatch(*open, entry->number, argument);
  log_.back() += " = " + std::to_string(-result);
  if (result == 0 && bend) bend(entry->number, argument);
  return result;
}

int FakeGdrdrv::dispatch(Open& open, unsigned nr, void* argument) {
  std::string& words = log_.back();
  const auto handle_word = [&] {
    const auto handle = get<std::uint64_t>(argument, 0);
    words += " handle " + std::to_string(handle);
    return handle;
  };
  switch (nr) {
    case number::get_version:
      put(argument, 0, model_.version);
      put(argument, 4, model_.minimum_api);
      return 0;
    case number::pin_buffer:
    case number::pin_buffer_v2: {
      const auto address = get<std::uint64_t>(argument, 0);
      const auto bytes = get<std::uint64_t>(argument, 8);
      const bool is_first = nr == number::pin_buffer;
      const auto flags = is_first ? 0 : get<std::uint32_t>(argument, 16);
      const bool has_tokens =
          is_first && (get<std::uint64_t>(argument, 16) != 0 || get<std::uint32_t>(argument, 24) != 0);
      words += " " + relative(address) + " " + std::to_string(bytes) + " flags " + std::to_string(flags);
      if (has_tokens && model_.is_persistent) return -EINVAL;
      std::uint64_t handle = 0;
      const int result = pin(open, address, bytes, flags, &handle);
      if (result == 0) put(argument, is_first ? 32 : 24, handle);
      return result;
    }
    case number::unpin_buffer: return unpin(open, handle_word());
    case number::get_cb_flag: {
      const Region* region = region_of(open, handle_word());
      if (region == nullptr) return -EINVAL;
      put(argument, 8, std::uint32_t{region->is_freed});
      return 0;
    }
    case number::get_info:
    case number::get_info_v2: (void)handle_word(); return get_info(open, argument, nr == number::get_info_v2);
    case number::get_attr:
      words += " " + std::to_string(get<std::uint32_t>(argument, 0));
      return get_attribute(argument);
    default: (void)handle_word(); return request_type(open, argument);
  }
}

int FakeGdrdrv::pin(Open& open, std::uint64_t address, std::uint64_t bytes, std::uint32_t flags,
                    std::uint64_t* handle) {
  if (address == 0 || (flags & ~1u) != 0) return -EINVAL;
  if (flags != 0 && (!model_.is_persistent || !model_.can_force_pcie)) return -EINVAL;
  if (pin_error != 0) return -pin_error;
  Region region;
  region.address = address;
  region.page_address = address & ~gpu_page_mask;
  region.bytes = ((address + bytes + gpu_page_mask) & ~gpu_page_mask) - region.page_address;
  const auto allocation = driver::emulated_find(region.page_address);
  if (!allocation || allocation->kind != driver::EmulatedKind::device) return -EINVAL;
  const auto held = driver::emulated_hold(region.page_address, region.bytes);
  if (!held) return -EINVAL;
  region.held = *held;
  region.owner_id = allocation->buffer_id;
  region.can_cache = model_.types.contains(2) && flags == 0;
  *handle = open.next_handle;
  open.next_handle += region.bytes / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  open.regions[*handle] = region;
  return 0;
}

int FakeGdrdrv::get_info(Open& open, void* argument, bool has_types) {
  const Region* region = region_of(open, get<std::uint64_t>(argument, 0));
  if (region == nullptr) return -EINVAL;
  put(argument, 8, region->page_address);
  put(argument, 16, region->bytes);
  put(argument, 24, static_cast<std::uint32_t>(gpu_page));
  put(argument, 28, std::uint32_t{2'000'000});
  put(argument, 32, std::uint64_t{123'456});
  put(argument, 40, has_types ? region->type : std::uint32_t{region->type != 0});
  // The older call has one more word; the newer one does not write it.
  if (!has_types) put(argument, 44, std::uint32_t{region->type == 1});
  return 0;
}

int FakeGdrdrv::get_attribute(void* argument) const {
  switch (get<std::uint32_t>(argument, 0)) {
    case 1: put(argument, 4, std::uint32_t{model_.is_persistent}); return 0;
    case 2: put(argument, 4, std::uint32_t{model_.is_persistent && model_.can_force_pcie}); return 0;
    default: return -EINVAL;
  }
}

int FakeGdrdrv::request_type(Open& open, void* argument) {
  const auto type = get<std::uint32_t>(argument, 8);
  log_.back() += " type " + std::to_string(type);
  Region* region = region_of(open, get<std::uint64_t>(argument, 0));
  if (type > 3 || region == nullptr) return -EINVAL;
  if (region->type != 0) return -EBUSY;
  if (type != 0 && !model_.types.contains(type)) return -EOPNOTSUPP;
  if (type == 2 && !region->can_cache) return -EOPNOTSUPP;
  region->requested_type = type;
  return 0;
}

}  // namespace gdrkit::fakes
