// SPDX-FileCopyrightText: The gdrkit authors
// SPDX-License-Identifier: MIT
// RmClient: a private client of NVIDIA's resource manager, on its own /dev/nvidiactl file.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/rm/rm_abi.hpp"
#include "base/result.hpp"
#include "driver/system.hpp"

namespace gdrkit::backend::rm {

using ObjectHandle = std::uint32_t;

inline constexpr const char* control_node = "/dev/nvidiactl";

/// Opens the control node. `driver` is the version text for error messages.
[[nodiscard]] base::Result<int> open_control_node(driver::System& system, const std::string& driver) noexcept;
/// Errors of a device node, with the remedy. `error`: EACCES, or EPERM, which device rules of a container cause.
[[nodiscard]] tl::unexpected<base::Error> node_is_missing(const char* path, const std::string& driver) noexcept;
[[nodiscard]] tl::unexpected<base::Error> node_is_forbidden(const char* path, int error) noexcept;

/// Thread safe: every call is one ioctl. The destructor frees the client with all its objects and closes the file. The
/// owner must have unmapped every mapping before.
class RmClient {
 public:
  /// `driver` is the version text for error messages.
  static base::Result<std::unique_ptr<RmClient>> open(driver::System& system, const std::string& driver) noexcept;
  ~RmClient();
  RmClient(const RmClient&) = delete;
  RmClient& operator=(const RmClient&) = delete;

  [[nodiscard]] ObjectHandle root() const noexcept { return root_; }
  [[nodiscard]] int control_fd() const noexcept { return control_fd_; }
  [[nodiscard]] const std::string& driver() const noexcept { return driver_; }

  /// Reads the driver's list of GPUs; entries with valid == 0 are empty.
  base::Status read_cards(CardInfo (&cards)[max_cards]) noexcept;

  base::Result<ObjectHandle> allocate(ObjectHandle parent, std::uint32_t object_class, void* parameters) noexcept;
  base::Status free(ObjectHandle parent, ObjectHandle object) noexcept;
  base::Status control(ObjectHandle object, std::uint32_t command, void* parameters, std::size_t bytes) noexcept;
  /// Error::vendor_code contains the status, on which callers decide.
  base::Result<ObjectHandle> duplicate(ObjectHandle parent, ObjectHandle source_client, ObjectHandle source) noexcept;
  /// `device_fd`: a new file of the same GPU, registered with this client. A file supports one mapping in its lifetime.
  base::Result<RmMapMemory> map(ObjectHandle device, ObjectHandle memory, std::uint64_t offset, std::uint64_t length,
                                int device_fd) noexcept;
  base::Status unmap(ObjectHandle device, ObjectHandle memory, std::uint64_t linear_address) noexcept;
  /// Opens /dev/nvidia<minor> and links it to this client.
  base::Result<int> open_device_file(std::uint32_t minor) noexcept;

  /// Keeps the client, its objects and its file until the process exits, because pages of it are still mapped.
  void keep_until_exit() noexcept { is_kept_.store(true); }
  [[nodiscard]] bool is_kept() const noexcept { return is_kept_.load(); }

  /// Frees the client with all its objects, in one call; the file stays open. The destructor does the same.
  void free_all() noexcept;
  [[nodiscard]] bool has_objects() const noexcept { return root_ != 0; }

  /// In a forked child: closes the inherited file. The client still belongs to the parent.
  void abandon_after_fork() noexcept;

 private:
  RmClient(driver::System& system, std::string driver, int control_fd) noexcept
      : system_(system), driver_(std::move(driver)), control_fd_(control_fd) {}
  base::Status check(const char* call, int result, std::uint32_t status) const noexcept;
  base::Status create_root() noexcept;

  driver::System& system_;
  std::string driver_;
  int control_fd_;
  ObjectHandle root_ = 0;
  std::atomic<bool> is_kept_{false};
  std::atomic<std::uint32_t> next_handle_{0x67d00001};
};

}  // namespace gdrkit::backend::rm
