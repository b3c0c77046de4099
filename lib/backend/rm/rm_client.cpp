// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
#include "backend/rm/rm_client.hpp"

#include <fcntl.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "backend/rm/rm_status.hpp"

namespace gdrkit::backend::rm {
namespace {

template <class T>
int call(driver::System& system, int fd, unsigned number, T* argument) noexcept {
  return system.ioctl(fd, request_word<T>(number), argument);
}

std::uint64_t word(void* pointer) noexcept { return reinterpret_cast<std::uint64_t>(pointer); }

tl::unexpected<base::Error> open_failed(const char* path, int error, const std::string& driver) noexcept {
  if (error == ENOENT) return node_is_missing(path, driver);
  if (error == EACCES || error == EPERM) return node_is_forbidden(path, error);
  if (error == EMFILE || error == ENFILE) {
    return base::fail(EMFILE, "cannot open %s: too many open files; unpin memory or raise ulimit -n", path);
  }
  return base::fail(error, "cannot open %s: %s", path, std::strerror(error));
}

}  // namespace

tl::unexpected<base::Error> node_is_missing(const char* path, const std::string& driver) noexcept {
  return base::fail(ENODEV,
                    "cannot open %s: the device file does not exist, although NVIDIA driver %s is loaded; run "
                    "nvidia-modprobe -c 0 (in a container: start the container with "
                    "--gpus all, or with --device nvidia.com/gpu=all for CDI)",
                    path, driver.c_str());
}

tl::unexpected<base::Error> node_is_forbidden(const char* path, int error) noexcept {
  if (error == EPERM) {
    return base::fail(
        EACCES,
        "cannot open %s: the device rules of the container exclude this device (%s); start the container with "
        "--gpus all (CDI: --device nvidia.com/gpu=all); a volume is not sufficient",
        path, std::strerror(error));
  }
  return base::fail(EACCES, "cannot open %s: %s; this user needs read and write permission (check: ls -l %s)", path,
                    std::strerror(error), path);
}

base::Result<int> open_control_node(driver::System& system, const std::string& driver) noexcept {
  const int fd = system.open(control_node, O_RDWR);
  if (fd < 0) return open_failed(control_node, -fd, driver);
  return fd;
}

base::Status RmClient::check(const char* what, int result, std::uint32_t status) const noexcept {
  if (result < 0) {
    return base::fail(-result, "NVIDIA driver %s rejected %s: %s; check the GPU with nvidia-smi, or update gdrkit",
                      driver_.c_str(), what, std::strerror(-result));
  }
  if (status != status::ok) {
    return base::fail_vendor(status_errno(status), static_cast<int>(status),
                             "NVIDIA driver %s rejected %s: status 0x%x (%s)", driver_.c_str(), what, status,
                             status_name(status));
  }
  return {};
}

base::Result<std::unique_ptr<RmClient>> RmClient::open(driver::System& system, const std::string& driver) noexcept {
  const auto fd = open_control_node(system, driver);
  if (!fd) return base::pass(fd);
  std::unique_ptr<RmClient> client(new (std::nothrow) RmClient(system, driver, *fd));
  if (client == nullptr) {
    system.close(*fd);
    return base::fail_literal(ENOMEM, "out of memory while opening backend 'rm'");
  }
  if (auto created = client->create_root(); !created) return base::pass(created);
  return client;
}

base::Status RmClient::create_root() noexcept {
  RmAlloc alloc{};
  alloc.object_class = object_class::root_client;
  const int result = call(system_, control_fd_, number::rm_alloc, &alloc);
  if (auto status = check("RM_ALLOC of a client", result, alloc.status_before_535 | alloc.status_since_535); !status) {
    return status;
  }
  root_ = alloc.object;
  return {};
}

RmClient::~RmClient() {
  if (control_fd_ < 0 || is_kept()) return;
  free_all();
  system_.close(control_fd_);
}

void RmClient::free_all() noexcept {
  if (control_fd_ < 0 || root_ == 0 || is_kept()) return;
  RmFree free{root_, 0, root_, 0};
  call(system_, control_fd_, number::rm_free, &free);
  root_ = 0;
}

base::Status RmClient::read_cards(CardInfo (&cards)[max_cards]) noexcept {
  std::memset(cards, 0, sizeof cards);
  const int result = system_.ioctl(control_fd_, request_word<CardInfo>(number::card_info, sizeof cards), cards);
  return check("CARD_INFO", result, status::ok);
}

base::Result<ObjectHandle> RmClient::allocate(ObjectHandle parent, std::uint32_t object_class,
                                              void* parameters) noexcept {
  RmAlloc alloc{};
  alloc.root = root_;
  alloc.parent = parent;
  alloc.object = next_handle_.fetch_add(1, std::memory_order_relaxed);
  alloc.object_class = object_class;
  alloc.parameters = word(parameters);
  const int result = call(system_, control_fd_, number::rm_alloc, &alloc);
  char what[48];
  std::snprintf(what, sizeof what, "RM_ALLOC of class 0x%x", object_class);
  if (auto status = check(what, result, alloc.status_before_535 | alloc.status_since_535); !status) {
    return base::pass(status);
  }
  return alloc.object;
}

base::Status RmClient::free(ObjectHandle parent, ObjectHandle object) noexcept {
  if (control_fd_ < 0) return {};
  RmFree free{root_, parent, object, 0};
  const int result = call(system_, control_fd_, number::rm_free, &free);
  return check("RM_FREE", result, free.status);
}

base::Status RmClient::control(ObjectHandle object, std::uint32_t command, void* parameters,
                               std::size_t bytes) noexcept {
  RmControl control{};
  control.client = root_;
  control.object = object;
  control.command = command;
  control.parameters = word(parameters);
  control.parameter_bytes = static_cast<std::uint32_t>(bytes);
  const int result = call(system_, control_fd_, number::rm_control, &control);
  char what[48];
  std::snprintf(what, sizeof what, "RM_CONTROL 0x%x", command);
  return check(what, result, control.status);
}

base::Result<ObjectHandle> RmClient::duplicate(ObjectHandle parent, ObjectHandle source_client,
                                               ObjectHandle source) noexcept {
  RmDupObject dup{};
  dup.client = root_;
  dup.parent = parent;
  dup.object = next_handle_.fetch_add(1, std::memory_order_relaxed);
  dup.source_client = source_client;
  dup.source_object = source;
  const int result = call(system_, control_fd_, number::rm_dup_object, &dup);
  if (auto status = check("RM_DUP_OBJECT", result, dup.status); !status) return base::pass(status);
  return dup.object;
}

base::Result<RmMapMemory> RmClient::map(ObjectHandle device, ObjectHandle memory, std::uint64_t offset,
                                        std::uint64_t length, int device_fd) noexcept {
  RmMapMemory map{};
  map.client = root_;
  map.device = device;
  map.memory = memory;
  map.offset = offset;
  map.length = length;
  map.fd = device_fd;
  const int result = call(system_, control_fd_, number::rm_map_memory, &map);
  if (auto status = check("RM_MAP_MEMORY", result, map.status); !status) return base::pass(status);
  return map;
}

base::Status RmClient::unmap(ObjectHandle device, ObjectHandle memory, std::uint64_t linear_address) noexcept {
  RmUnmapMemory unmap{};
  unmap.client = root_;
  unmap.device = device;
  unmap.memory = memory;
  unmap.linear_address = linear_address;
  const int result = call(system_, control_fd_, number::rm_unmap_memory, &unmap);
  return check("RM_UNMAP_MEMORY", result, unmap.status);
}

base::Result<int> RmClient::open_device_file(std::uint32_t minor) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/dev/nvidia%u", minor);
  const int fd = system_.open(path, O_RDWR);
  if (fd < 0) return open_failed(path, -fd, driver_);
  RegisterFd registration{control_fd_};
  const int result = call(system_, fd, number::register_fd, &registration);
  if (auto status = check("REGISTER_FD", result, status::ok); !status) {
    system_.close(fd);
    return base::pass(status);
  }
  return fd;
}

void RmClient::abandon_after_fork() noexcept {
  if (control_fd_ >= 0) system_.close(control_fd_);
  control_fd_ = -1;
}

}  // namespace gdrkit::backend::rm
