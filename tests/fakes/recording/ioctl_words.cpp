// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "fakes/recording/ioctl_words.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>

#include "fakes/wire.hpp"

namespace gdrkit::fakes {
namespace {

enum class What { descriptor, handle, bar1_address, pointer };

struct Field {
  std::size_t offset;
  What what;
};
using Fields = std::vector<Field>;

struct Structure {
  unsigned number;
  const char* name;
  Fields fields;
};

/// Words 0, 4, 8, ... of a structure that begins with `count` handles.
Fields handles(std::size_t count, const Fields& more = {}) {
  Fields fields;
  for (std::size_t i = 0; i < count; ++i) fields.push_back({4 * i, What::handle});
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

const Structure* structure_of(unsigned long request) {
  static const std::vector<Structure> all = {
      {command::card_info, "CARD_INFO", {}},
      {command::register_fd, "REGISTER_FD", {{0, What::descriptor}}},
      {command::check_version, "CHECK_VERSION_STR", {}},
      {command::attach_gpus, "ATTACH_GPUS_TO_FD", {}},
      {command::wait_open, "WAIT_OPEN_COMPLETE", {}},
      {command::rm_free, "RM_FREE", handles(3)},
      {command::rm_control, "RM_CONTROL", handles(2, {{16, What::pointer}})},
      {command::rm_alloc, "RM_ALLOC", handles(3, {{16, What::pointer}})},
      {command::rm_dup, "RM_DUP_OBJECT", handles(5)},
      {command::rm_map, "RM_MAP_MEMORY", handles(3, {{32, What::bar1_address}, {48, What::descriptor}})},
      {command::rm_unmap, "RM_UNMAP_MEMORY", handles(3, {{16, What::bar1_address}})},
  };
  for (const Structure& structure : all) {
    if (structure.number == _IOC_NR(request)) return &structure;
  }
  return nullptr;
}

Fields fields_of(unsigned long request) {
  const Structure* structure = structure_of(request);
  return structure != nullptr ? structure->fields : Fields();
}

/// The memory that the structure points to.
struct Pointed {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  Fields fields;
};

std::uint8_t* pointer_at(const void* base, std::size_t offset) {
  return reinterpret_cast<std::uint8_t*>(get<std::uintptr_t>(base, offset));
}

Pointed parameters_of(unsigned long request, const void* argument) {
  Pointed pointed;
  if (_IOC_NR(request) == command::rm_alloc) {
    pointed.bytes = pointer_at(argument, 16);
    const auto object_class = get<std::uint32_t>(argument, 12);
    if (object_class == rm_class::subdevice) pointed.size = 4;
    if (object_class == rm_class::device) {
      pointed.size = 56;
      pointed.fields = {{4, What::handle}, {8, What::handle}, {12, What::handle}};
    }
  } else if (_IOC_NR(request) == command::rm_control) {
    pointed.bytes = pointer_at(argument, 16);
    pointed.size = get<std::uint32_t>(argument, 24);
    switch (get<std::uint32_t>(argument, 8)) {
      case control_command::import_object:
        pointed.fields = {{0, What::descriptor}, {8, What::handle}, {12, What::handle}, {16, What::handle}};
        break;
      case control_command::address_space: pointed.fields = {{0, What::handle}}; break;
      case control_command::surface_info: pointed.fields = {{8, What::pointer}}; break;
      default: break;
    }
  }
  if (pointed.bytes == nullptr) pointed.size = 0;
  return pointed;
}

Pointed entries_of(unsigned long request, const void* argument, const Pointed& parameters) {
  const bool is_surface_info = _IOC_NR(request) == command::rm_control && parameters.size == 16 &&
                               get<std::uint32_t>(argument, 8) == control_command::surface_info;
  if (!is_surface_info) return {};
  return {pointer_at(parameters.bytes, 8), 8 * std::size_t{get<std::uint32_t>(parameters.bytes, 0)}, {}};
}

void make_canonical(std::vector<std::uint8_t>& bytes, const Fields& fields, CanonicalNames& names) {
  void* base = bytes.data();
  for (const Field& field : fields) {
    switch (field.what) {
      case What::descriptor: put(base, field.offset, names.descriptor(get<std::int32_t>(base, field.offset))); break;
      case What::handle: {
        const std::uint64_t name = names.name(CanonicalNames::Kind::handle, get<std::uint32_t>(base, field.offset));
        put(base, field.offset, static_cast<std::uint32_t>(name));
        break;
      }
      case What::bar1_address:
        put(base, field.offset, names.name(CanonicalNames::Kind::bar1_address, get<std::uint64_t>(base, field.offset)));
        break;
      case What::pointer:
        put(base, field.offset, std::uint64_t{get<std::uint64_t>(base, field.offset) == 0 ? 0u : 1u});
        break;
    }
  }
}

void add(Words& words, const char* name, const void* source, std::size_t size, const Fields& fields,
         CanonicalNames& names) {
  const auto* first = static_cast<const std::uint8_t*>(source);
  std::vector<std::uint8_t> bytes(first, first + size);
  make_canonical(bytes, fields, names);
  words.add_bytes(name, bytes.data(), bytes.size());
}

void write(const Words& words, const char* name, void* target, std::size_t size, const Fields& fields) {
  if (!words.has(name)) return;
  std::vector<std::uint8_t> bytes = words.bytes(name);
  bytes.resize(size);
  for (const Field& field : fields) {
    if (field.what == What::pointer) put(bytes.data(), field.offset, get<std::uint64_t>(target, field.offset));
  }
  std::memcpy(target, bytes.data(), size);
}

}  // namespace

std::string ioctl_name(unsigned long request) {
  const Structure* structure = structure_of(request);
  return structure != nullptr ? structure->name : std::to_string(_IOC_NR(request));
}

void add_ioctl_bytes(Words& words, unsigned long request, const void* argument, CanonicalNames& names) {
  add(words, "main", argument, _IOC_SIZE(request), fields_of(request), names);
  const Pointed parameters = parameters_of(request, argument);
  if (parameters.size == 0) return;
  add(words, "params", parameters.bytes, parameters.size, parameters.fields, names);
  const Pointed entries = entries_of(request, argument, parameters);
  if (entries.size != 0) add(words, "entries", entries.bytes, entries.size, {}, names);
}

void write_ioctl_bytes(const Words& words, unsigned long request, void* argument) {
  // Reads the pointers before anything is overwritten.
  const Pointed parameters = parameters_of(request, argument);
  const Pointed entries = entries_of(request, argument, parameters);
  write(words, "main", argument, _IOC_SIZE(request), fields_of(request));
  if (parameters.size != 0) write(words, "params", parameters.bytes, parameters.size, parameters.fields);
  if (entries.size != 0) write(words, "entries", entries.bytes, entries.size, {});
}

std::string export_bytes(const driver::ObservedIoctl& observed, CanonicalNames& names) {
  std::vector<std::uint8_t> bytes = observed.argument;
  const auto layout = export_layout(bytes.size());
  if (!layout) return to_hex(bytes.data(), bytes.size());
  const std::size_t count = std::min<std::size_t>(layout->most_objects, get<std::uint32_t>(bytes.data(), 12));
  Fields fields = {{0, What::descriptor}, {4, What::handle}};
  for (std::size_t i = 0; i < count; ++i) fields.push_back({layout->handles + 4 * i, What::handle});
  for (std::size_t i = count; i < layout->most_objects; ++i) {
    put(bytes.data(), layout->handles + 4 * i, std::uint32_t{0});
    put(bytes.data(), layout->offsets + 8 * i, std::uint64_t{0});
    put(bytes.data(), layout->sizes + 8 * i, std::uint64_t{0});
  }
  make_canonical(bytes, fields, names);
  return to_hex(bytes.data(), bytes.size());
}

}  // namespace gdrkit::fakes
