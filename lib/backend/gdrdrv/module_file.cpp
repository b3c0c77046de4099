// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/gdrdrv/module_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "kernel/include/gdrdrv_abi.h"

namespace gdrkit::backend::gdrdrv {
namespace {

constexpr std::uint32_t oldest_module = 0x0002'0000;
constexpr std::uint32_t supported_api = 0x0002'0006;

constexpr unsigned misc_major = 10;

/// The number of "gdrdrv" in a list of Linux. -1: not in the list; -2: the list cannot be read.
int number_in(driver::System& system, const char* list) noexcept {
  char text[8192];
  if (system.read_text(list, text, sizeof text) < 0) return -2;
  for (const char* line = text; line != nullptr && *line != '\0';) {
    int number = -1;
    char name[16] = "";
    if (std::sscanf(line, "%d %15s", &number, name) == 2 && std::strcmp(name, "gdrdrv") == 0) return number;
    line = std::strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return -1;
}

/// Whether the node is a leftover of an earlier module, by its numbers and those of the loaded module in /proc/devices
/// and /proc/misc. `text` is then "the device file has the number 236:0, but the loaded gdrdrv kernel module has 240:0;
/// ..." and the remedy. It is empty for a current node, and if the node or the lists cannot be read.
struct StaleNode {
  explicit StaleNode(driver::System& system) noexcept;
  [[nodiscard]] bool is_stale() const noexcept { return text[0] != '\0'; }
  char text[240] = "";
};

StaleNode::StaleNode(driver::System& system) noexcept {
  unsigned major = 0;
  unsigned minor = 0;
  if (system.node_numbers(node, &major, &minor) != 0) return;
  const int own_major = number_in(system, "/proc/devices");
  const int own_minor = number_in(system, "/proc/misc");
  if (own_major == -2) return;
  const bool is_current =
      major == misc_major ? static_cast<int>(minor) == own_minor : static_cast<int>(major) == own_major;
  if (is_current) return;
  if (own_major >= 0) {
    std::snprintf(text, sizeof text,
                  "the device file has the number %u:%u, but the loaded gdrdrv kernel module has %d:0; remove the "
                  "file, then run mknod -m 666 "
                  "%s c %d 0 (in a container: restart the container instead)",
                  major, minor, own_major, node, own_major);
  } else if (own_minor < 0) {
    std::snprintf(
        text, sizeof text,
        "the device file has the number %u:%u, but no gdrdrv kernel module is loaded; load the module, or remove the "
        "device file",
        major, minor);
  }
}

tl::unexpected<base::Error> open_failed(driver::System& system, int error) noexcept {
  const StaleNode stale(system);
  switch (error) {
    case ENOENT:
      return base::fail(ENODEV,
                        "cannot open %s: the device file does not exist; load the optional gdrdrv kernel module (in a "
                        "container: also start the container with --device %s)",
                        node, node);
    case ENXIO:
    case ENODEV:
      if (stale.is_stale()) return base::fail(ENODEV, "cannot open %s: %s", node, stale.text);
      return base::fail(ENODEV, "cannot open %s: %s; load the gdrdrv kernel module and recreate the device file", node,
                        std::strerror(error));
    case EACCES:
      return base::fail(EACCES, "cannot open %s: %s; give this user read and write permission (check: ls -l %s)", node,
                        std::strerror(error), node);
    case EPERM:
      return base::fail(EACCES,
                        "cannot open %s: the device rules of the container exclude this device (%s); start the "
                        "container with --device %s; a volume is not sufficient",
                        node, std::strerror(error), node);
    default: return base::fail(error, "cannot open %s: %s", node, std::strerror(error));
  }
}

/// EOPNOTSUPP: a module before 2.0, or one that requires a newer library.
base::Result<ModuleVersion> check_version(std::uint32_t driver, std::uint32_t minimum_api) noexcept {
  const ModuleVersion version{driver};
  const ModuleVersion minimum{minimum_api};
  if (driver < oldest_module) {
    return base::fail(EOPNOTSUPP,
                      "cannot use gdrdrv %u.%u: the oldest supported version is 2.0; update the kernel module",
                      version.major_number(), version.minor_number());
  }
  if (minimum_api > supported_api) {
    return base::fail(EOPNOTSUPP,
                      "cannot use gdrdrv %u.%u: the kernel module requires API %u.%u or newer, but this gdrkit has API "
                      "2.6; update gdrkit",
                      version.major_number(), version.minor_number(), minimum.major_number(), minimum.minor_number());
  }
  return version;
}

}  // namespace

bool offset_of(std::uint64_t handle, std::size_t bytes, std::int64_t* offset) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  if (__builtin_mul_overflow(handle, page, &first) || __builtin_add_overflow(first, bytes, &end)) return false;
  if (end > INT64_MAX) return false;
  *offset = static_cast<std::int64_t>(first);
  return true;
}

base::Result<std::unique_ptr<ModuleFile>> ModuleFile::open(driver::System& system) noexcept {
  const int fd = driver::as_user_errno(system.open(node, O_RDWR));
  if (fd < 0) return open_failed(system, -fd);
  std::unique_ptr<ModuleFile> file(new (std::nothrow) ModuleFile(system, fd));
  if (file == nullptr) {
    system.close(fd);
    return base::fail_literal(ENOMEM, "out of memory while opening the gdrdrv kernel module");
  }
  if (auto supported = file->read_version(); !supported) return base::pass(supported);
  return file;
}

ModuleFile::~ModuleFile() {
  if (fd_ >= 0) system_.close(fd_);
}

int ModuleFile::call(unsigned long request, void* argument) noexcept {
  return std::min(driver::as_user_errno(system_.ioctl(fd_, request, argument)), 0);
}

base::Status ModuleFile::read_version() noexcept {
  gdrdrv_version_request reply{};
  const int result = call(GDRDRV_GET_VERSION, &reply);
  if (result == -ENOTTY || result == -EINVAL) {
    if (const StaleNode stale(system_); stale.is_stale()) {
      return base::fail(EOPNOTSUPP, "cannot read the version of %s: %s", node, stale.text);
    }
    return base::fail(EOPNOTSUPP,
                      "cannot use %s: the device file does not belong to gdrdrv 2.0 or newer (GET_VERSION: %s); load "
                      "gdrdrv 2.0 or newer",
                      node, std::strerror(-result));
  }
  if (result < 0) return base::fail(-result, "cannot read the version of %s: %s", node, std::strerror(-result));
  auto version = check_version(reply.version, reply.minimum_api);
  if (!version) return base::pass(version);
  version_ = *version;
  if (!version_.has_requests()) return {};
  if (auto read = read_attribute(GDRDRV_ATTRIBUTE_PERSISTENT, "persistent mappings", &is_persistent_); !read)
    return read;
  return read_attribute(GDRDRV_ATTRIBUTE_FORCE_PCIE, "forced PCIe mappings", &can_force_pcie_);
}

/// A module that does not support the attribute does not have the feature.
base::Status ModuleFile::read_attribute(std::uint32_t attribute, const char* name, bool* value) noexcept {
  gdrdrv_attribute_request reply{attribute, 0};
  const int result = call(GDRDRV_ATTRIBUTE, &reply);
  if (result < 0 && result != -EINVAL)
    return base::fail(-result, "cannot read from %s whether the kernel module supports %s: %s", node, name,
                      std::strerror(-result));
  *value = result >= 0 && reply.value == 1;
  return {};
}

int ModuleFile::pin(std::uint64_t address, std::uint64_t bytes, bool force_pcie, std::uint64_t* handle) noexcept {
  if (version_.has_requests()) {
    gdrdrv_pin_v2_request pin{address, bytes, 0, 0, 0};
    if (force_pcie) pin.flags = GDRDRV_PIN_FORCE_PCIE;
    const int result = call(GDRDRV_PIN_V2, &pin);
    *handle = pin.handle;
    return result;
  }
  if (force_pcie) return -EINVAL;
  gdrdrv_pin_request pin{address, bytes, 0, 0, 0, 0};
  const int result = call(GDRDRV_PIN, &pin);
  *handle = pin.handle;
  return result;
}

int ModuleFile::unpin(std::uint64_t handle) noexcept {
  gdrdrv_unpin_request unpin{handle};
  return call(GDRDRV_UNPIN, &unpin);
}

int ModuleFile::state(std::uint64_t handle, PinState* state) noexcept {
  if (version_.has_mapping_types()) {
    gdrdrv_info_v2_request info{};
    info.handle = handle;
    const int result = call(GDRDRV_INFO_V2, &info);
    if (result < 0) return result;
    *state = {info.address, info.mapped_bytes, info.page_bytes, info.tsc_khz, info.pin_cycles, info.mapping_type};
    return 0;
  }
  gdrdrv_info_request info{};
  info.handle = handle;
  const int result = call(GDRDRV_INFO, &info);
  if (result < 0) return result;
  *state = {info.address, info.mapped_bytes, info.page_bytes, info.tsc_khz, info.pin_cycles, GDRDRV_MAPPING_NONE};
  // These two types existed before 2.4.
  if (info.is_mapped != 0)
    state->mapping_type = info.is_write_combining != 0 ? GDRDRV_MAPPING_WC : GDRDRV_MAPPING_CACHED;
  return 0;
}

int ModuleFile::is_freed_by_owner(std::uint64_t handle, bool* is_freed) noexcept {
  gdrdrv_callback_flag_request reply{handle, 0, 0};
  const int result = call(GDRDRV_CALLBACK_FLAG, &reply);
  if (result < 0) return result;
  *is_freed = reply.is_revoked != 0;
  return 0;
}

int ModuleFile::request_mapping_type(std::uint64_t handle, std::uint32_t type) noexcept {
  gdrdrv_mapping_type_request requested{handle, type, 0};
  return call(GDRDRV_MAPPING_TYPE, &requested);
}

int ModuleFile::map(std::uint64_t handle, std::size_t bytes, void** mapped) noexcept {
  std::int64_t offset = 0;
  if (!offset_of(handle, bytes, &offset)) return -EOVERFLOW;
  return driver::as_user_errno(system_.mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, offset, mapped));
}

void ModuleFile::abandon_after_fork() noexcept {
  if (fd_ >= 0) system_.close(fd_);
  fd_ = -1;
}

}  // namespace gdrkit::backend::gdrdrv
